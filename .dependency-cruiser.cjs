/**
 * Who may import whom. The layers of the runtime are domain ← adapters, runtime ← handlers; `lib` describes them to
 * CloudFormation and knows their environment variables only; `local` runs what `lib` synthesized and imports neither.
 */

const DOMAIN_PACKAGES =
  '(^|/)node_modules/(valibot|@valibot/to-json-schema|ulid|p-limit|csv-parse|ajv|ajv-formats|i18n-iso-countries|postal-codes-js)/';
const DOMAIN_CORE_MODULES = '^(node:)?(buffer|crypto|stream|stream/promises|url|util|zlib)$';
const SHARED_BY_FUNCTIONS = '^lambdas/(domain|adapters|runtime)/';
const ENVIRONMENT = '^lambdas/[^/]+/env[.]ts$';

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Modules that need each other are one module, or share a third. Types alone may refer to each other.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'resolvable',
      comment: 'The import names a file or package that is not there.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'domain-is-pure',
      comment: 'Domain code is plain rules: no AWS SDK, no CDK, no input or output, only the packages named here.',
      severity: 'error',
      from: { path: '^lambdas/domain/' },
      to: {
        pathNot: ['^lambdas/domain/', '^config/', DOMAIN_PACKAGES, DOMAIN_CORE_MODULES],
      },
    },
    {
      name: 'domain-takes-config-as-parameter',
      comment: 'Domain code may know the types of the configuration; its values come in as parameters.',
      severity: 'error',
      from: { path: '^lambdas/domain/' },
      to: { path: '^config/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'adapters-know-the-domain',
      comment: 'An adapter implements ports; what it needs of configuration or runtime is passed to it.',
      severity: 'error',
      from: { path: '^lambdas/adapters/' },
      to: {
        path: '^(bin|cli|config|lambdas|lib|local|scripts|test)/',
        pathNot: '^lambdas/(adapters|domain)/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'runtime-knows-the-domain',
      comment: 'The shared parts of the handlers (logger, metrics, batch wrapper) know neither stores nor functions.',
      severity: 'error',
      from: { path: '^lambdas/runtime/' },
      to: {
        path: '^(bin|cli|config|lambdas|lib|local|scripts|test)/',
        pathNot: '^lambdas/(domain|runtime)/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'functions-are-separate',
      comment: 'A function uses what all share and its own directory, never another function.',
      severity: 'error',
      from: { path: '^lambdas/([^/]+)/', pathNot: SHARED_BY_FUNCTIONS },
      to: { path: '^lambdas/', pathNot: ['^lambdas/$1/', SHARED_BY_FUNCTIONS] },
    },
    {
      name: 'functions-are-not-infrastructure',
      comment: 'What runs in Lambda is bundled without the CDK and without the tools around it.',
      severity: 'error',
      from: { path: '^lambdas/' },
      to: { path: ['^(bin|cli|lib|local|scripts|test)/', '(^|/)node_modules/(aws-cdk-lib|constructs|cdk-nag)/'] },
    },
    {
      name: 'env-is-light',
      comment: 'Infrastructure imports env.ts as well: it describes variables and starts nothing.',
      severity: 'error',
      from: { path: ENVIRONMENT },
      to: { pathNot: [ENVIRONMENT, '^lambdas/(domain|runtime)/', '^config/', '(^|/)node_modules/valibot/'] },
    },
    {
      name: 'infrastructure-knows-environments',
      comment:
        'Of the functions, infrastructure knows variables, metrics, types, lanes, operations, and how capacity is derived.',
      severity: 'error',
      from: { path: '^(bin|lib)/' },
      to: {
        path: '^lambdas/',
        pathNot: [
          ENVIRONMENT,
          '^lambdas/domain/(capacity|model|api/(operations|problems))[.]ts$',
          '^lambdas/runtime/metric-names[.]ts$',
        ],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'infrastructure-stands-alone',
      comment: 'Infrastructure deploys without the local cloud and the command line.',
      severity: 'error',
      from: { path: '^(bin|lib)/' },
      to: { path: '^(cli|local|scripts|test)/' },
    },
    {
      name: 'config-is-data',
      comment: 'Configuration is data and its validation; what it computes with are pure rules of the domain.',
      severity: 'error',
      from: { path: '^config/' },
      to: { path: '^(bin|cli|lambdas|lib|local|scripts|test)/', pathNot: '^lambdas/domain/' },
    },
    {
      name: 'client-stands-alone',
      comment:
        "The client of the API and the command are a customer's: they run wherever Node.js does and know the API's description only.",
      severity: 'error',
      from: { path: '^cli/(client|sluice)/' },
      to: {
        pathNot: ['^cli/(client|sluice)/', '(^|/)node_modules/openapi-(fetch|typescript-helpers)/'],
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'local-runs-templates',
      comment: 'The local cloud runs what was synthesized; it must not know how that came about.',
      severity: 'error',
      from: { path: '^local/' },
      to: { path: '^(bin|lib)/' },
    },
    {
      name: 'local-cloud-stands-alone',
      comment: 'local/cloud runs any synthesized templates: it imports nothing of this repository but itself.',
      severity: 'error',
      from: { path: '^local/cloud/' },
      to: { path: '^(bin|cli|config|lambdas|lib|local|scripts|test)/', pathNot: '^local/cloud/' },
    },
    {
      name: 'local-cloud-has-one-face',
      comment: 'What uses the local cloud imports local/cloud/index.ts only, so that it could be a package.',
      severity: 'error',
      from: { pathNot: '^local/cloud/' },
      to: { path: '^local/cloud/', pathNot: '^local/cloud/index[.]ts$' },
    },
    {
      name: 'local-is-a-tool',
      comment: 'Nothing that is deployed depends on the local cloud.',
      severity: 'error',
      from: { pathNot: '^(cli|local|test)/' },
      to: { path: '^local/' },
    },
    {
      name: 'tests-are-leaves',
      comment: 'Only tests use tests and their support.',
      severity: 'error',
      from: { pathNot: ['^test/', '^local/cloud/test/'] },
      to: { path: ['^test/', '^local/cloud/test/'] },
    },
    {
      name: 'emulators-stay-local',
      comment: 'The emulators, and the AGPL-licensed policy simulator among them, never reach what is deployed.',
      severity: 'error',
      from: { pathNot: '^(local|test)/' },
      to: { path: '(^|/)node_modules/(@cloud-copilot|fauxqs|dynalite)/' },
    },
    {
      name: 'deployed-code-needs-no-dev-dependency',
      comment: 'What is deployed or synthesized is listed under dependencies.',
      severity: 'error',
      from: { path: '^(bin|config|lambdas|lib)/' },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: '(^|/)node_modules/(@types|cdk-nag)/',
      },
    },
    {
      name: 'listed-packages-only',
      comment: 'A package that is used is listed in package.json.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    moduleSystems: ['es6', 'cjs'],
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};
