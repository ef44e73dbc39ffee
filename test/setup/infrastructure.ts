import cdkConfig from '../../cdk.json' with { type: 'json' };

// The templates under test are those that get deployed, so they are synthesized with the same feature flags.
process.env['CDK_CONTEXT_JSON'] = JSON.stringify(cdkConfig.context);

// Validating every template costs seconds per test; `npm run check` validates the templates of every stage.
process.env['CDK_VALIDATION'] = 'false';
