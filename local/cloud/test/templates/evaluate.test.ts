import { describe, expect, test } from '@jest/globals';
import type { DeployedResource, Json } from '../../contract.ts';
import { loadAssembly } from '../../templates/assembly.ts';
import { type EvaluatedAssembly, evaluateAssembly } from '../../templates/evaluate.ts';
import { NameSource } from '../../templates/names.ts';
import { writeAssembly } from '../aws/fixture.ts';

type Stacks = Parameters<typeof writeAssembly>[0];

function evaluate(stacks: Stacks, seed = 'seed'): EvaluatedAssembly {
  const assembly = writeAssembly(stacks);
  try {
    return evaluateAssembly(loadAssembly(assembly.directory), {
      endpoint: 'http://127.0.0.1:4000',
      region: 'eu-west-1',
      accountId: '123456789012',
      names: new NameSource(seed),
    });
  } finally {
    assembly.remove();
  }
}

/** What a value in a template becomes, as an output of a stack that also declares a queue and a few helpers. */
function valueOf(value: Json): Json | undefined {
  const { outputs } = evaluate({
    Test: {
      Resources: { Queue: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'jobs' } } },
      Parameters: {
        Size: { Type: 'Number', Default: 3 },
        BootstrapVersion: { Type: 'AWS::SSM::Parameter::Value<String>', Default: '/cdk-bootstrap/version' },
      },
      Conditions: {
        IsEurope: { 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'eu-west-1'] },
        IsElsewhere: { 'Fn::Not': [{ Condition: 'IsEurope' }] },
        Both: { 'Fn::And': [{ Condition: 'IsEurope' }, { Condition: 'IsElsewhere' }] },
        Either: { 'Fn::Or': [{ Condition: 'IsEurope' }, { Condition: 'IsElsewhere' }] },
      },
      Mappings: { Prices: { 'eu-west-1': { small: 2 } } },
      Outputs: { Value: { Value: value } },
    },
  });
  return outputs['Test']?.['Value'];
}

const queueArn = 'arn:aws:sqs:eu-west-1:123456789012:jobs';
const queueUrl = 'http://127.0.0.1:4000/123456789012/jobs';

describe('intrinsic functions', () => {
  const cases: [name: string, value: Json, expected: Json][] = [
    ['Ref of a resource', { Ref: 'Queue' }, queueUrl],
    ['Ref of a parameter', { Ref: 'Size' }, 3],
    ['Ref of a pseudo parameter', { Ref: 'AWS::Region' }, 'eu-west-1'],
    ['GetAtt as a list', { 'Fn::GetAtt': ['Queue', 'Arn'] }, queueArn],
    ['GetAtt as text', { 'Fn::GetAtt': 'Queue.Arn' }, queueArn],
    ['Join', { 'Fn::Join': ['-', ['a', { Ref: 'AWS::AccountId' }, 1]] }, 'a-123456789012-1'],
    ['Join of a list that is computed', { 'Fn::Join': ['+', { 'Fn::Split': [':', 'a:b'] }] }, 'a+b'],
    [
      'Sub with names of the template',
      { 'Fn::Sub': '${AWS::Partition}/${Queue.Arn}/${Size}/${!Literal}' },
      `aws/${queueArn}/3/\${Literal}`,
    ],
    ['Sub with names of its own', { 'Fn::Sub': ['${A}/${AWS::Region}', { A: { Ref: 'Size' } }] }, '3/eu-west-1'],
    ['Select', { 'Fn::Select': [5, { 'Fn::Split': [':', { 'Fn::GetAtt': ['Queue', 'Arn'] }] }] }, 'jobs'],
    ['If', { 'Fn::If': ['IsEurope', 'yes', 'no'] }, 'yes'],
    ['If over combined conditions', { 'Fn::If': ['Both', 'yes', { 'Fn::If': ['Either', 'one', 'none'] }] }, 'one'],
    ['FindInMap', { 'Fn::FindInMap': ['Prices', { Ref: 'AWS::Region' }, 'small'] }, 2],
    ['Base64', { 'Fn::Base64': 'text' }, 'dGV4dA=='],
    ['NoValue in an object', { a: 1, b: { Ref: 'AWS::NoValue' } }, { a: 1 }],
    ['NoValue in a list', [{ 'Fn::If': ['IsElsewhere', 1, { Ref: 'AWS::NoValue' }] }, 2], [2]],
    [
      'a policy condition, which is none of them',
      { Condition: { Bool: { a: 'b' } } },
      { Condition: { Bool: { a: 'b' } } },
    ],
  ];

  test.each(cases)('%s', (_name, value, expected) => {
    expect(valueOf(value)).toEqual(expected);
  });

  const mistakes: [name: string, value: Json, message: string][] = [
    ['an unknown function', { 'Fn::GetStackOutput': ['a', 'b'] }, 'Fn::GetStackOutput is not an intrinsic function'],
    ['an unknown name', { Ref: 'Nothing' }, 'Ref names Nothing, which the template does not declare'],
    ['an unknown attribute', { 'Fn::GetAtt': ['Queue', 'Colour'] }, 'no attribute Colour of Queue (AWS::SQS::Queue)'],
    ['an unknown import', { 'Fn::ImportValue': 'Other:Thing' }, 'no stack before Test exports Other:Thing'],
    ['an unknown condition', { 'Fn::If': ['Maybe', 1, 2] }, 'declares no condition Maybe'],
    ['an unknown mapping', { 'Fn::FindInMap': ['Prices', 'x', 'y'] }, 'maps nothing to Prices.x.y'],
    ['a list where text is needed', { 'Fn::Sub': '${List}' }, 'needs text'],
    ['a parameter that only a deployment knows', { Ref: 'BootstrapVersion' }, 'has no value that is known before'],
  ];

  test.each(mistakes)('%s is an error at its place', (_name, value, message) => {
    expect(() => valueOf(value)).toThrow(`Test, output Value: `);
    expect(() => valueOf(value)).toThrow(message);
  });
});

describe('resources', () => {
  const find = ({ resources }: EvaluatedAssembly, logicalId: string): DeployedResource | undefined =>
    resources.find((resource) => resource.logicalId === logicalId);

  test('come after what they refer to or depend on, whatever order the template has', () => {
    const { resources } = evaluate({
      Test: {
        Resources: {
          Lane: {
            Type: 'AWS::SQS::Queue',
            DependsOn: ['Topic'],
            Properties: {
              RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': ['DeadLetters', 'Arn'] }, maxReceiveCount: 5 },
            },
          },
          DeadLetters: { Type: 'AWS::SQS::Queue' },
          Topic: { Type: 'AWS::SNS::Topic' },
        },
      },
    });
    expect(resources.map(({ logicalId }) => logicalId)).toEqual(['Topic', 'DeadLetters', 'Lane']);
    expect(resources[2]?.properties['RedrivePolicy']).toEqual({
      deadLetterTargetArn: resources[1]?.arn,
      maxReceiveCount: 5,
    });
  });

  test('get names like those of CloudFormation, within the limits of each service', () => {
    const long = 'AVeryLongLogicalIdOfAResourceThatWouldNeverFitIntoTheNameOfAFunctionOrABucket';
    const evaluated = evaluate({
      'a-stack-with-a-long-name': {
        Resources: {
          [long]: { Type: 'AWS::S3::Bucket' },
          [`${long}2`]: { Type: 'AWS::SQS::Queue' },
          Short: { Type: 'AWS::Logs::LogGroup' },
        },
      },
    });
    expect(find(evaluated, long)?.physicalId).toMatch(/^a-stack-[a-z0-9-]+-[a-z0-9]{12}$/);
    expect(find(evaluated, long)?.physicalId.length).toBeLessThanOrEqual(63);
    expect(find(evaluated, `${long}2`)?.physicalId.split('/').pop()?.length).toBeLessThanOrEqual(80);
    expect(find(evaluated, 'Short')?.physicalId).toMatch(/^a-stack-with-a-long-name-Short-[A-Z0-9]{12}$/);
  });

  test('have names that depend on the seed', () => {
    const stacks = { Test: { Resources: { Queue: { Type: 'AWS::SQS::Queue' } } } };
    const arns = ['one', 'one', 'two'].map((seed) => find(evaluate(stacks, seed), 'Queue')?.arn);
    expect(arns[0]).toBe(arns[1]);
    expect(arns[0]).not.toBe(arns[2]);
  });

  test('whose condition does not hold do not exist', () => {
    const { resources } = evaluate({
      Test: {
        Conditions: { Never: { 'Fn::Equals': ['a', 'b'] } },
        Resources: { Queue: { Type: 'AWS::SQS::Queue', Condition: 'Never' }, Topic: { Type: 'AWS::SNS::Topic' } },
      },
    });
    expect(resources.map(({ logicalId }) => logicalId)).toEqual(['Topic']);
  });

  test('know the directory of their code', () => {
    const Properties = {
      Code: { S3Bucket: 'assets', S3Key: 'code.zip' },
      Role: 'r',
      Handler: 'a.b',
      Runtime: 'nodejs24.x',
    };
    const evaluated = evaluate({ Test: { Resources: { Function: { Type: 'AWS::Lambda::Function', Properties } } } });
    expect(find(evaluated, 'Function')?.assetPath).toMatch(/asset\.code$/);
  });

  test('of ignored types are listed with the reason', () => {
    const { resources, ignored } = evaluate({
      Test: { Resources: { Metadata: { Type: 'AWS::CDK::Metadata', Properties: { Analytics: 'x' } } } },
    });
    expect(resources).toEqual([]);
    expect(ignored).toEqual([expect.stringContaining('Test/Metadata (AWS::CDK::Metadata): counts')]);
  });

  test('that refer to each other in a circle are an error that shows the circle', () => {
    const redriveTo = (other: string): Json => ({
      RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': [other, 'Arn'] }, maxReceiveCount: 1 },
    });
    const stacks = {
      Test: {
        Resources: {
          A: { Type: 'AWS::SQS::Queue', Properties: redriveTo('B') },
          B: { Type: 'AWS::SQS::Queue', Properties: redriveTo('A') },
        },
      },
    };
    expect(() => evaluate(stacks)).toThrow('A → B → A refer to each other');
  });
});

describe('what is not understood is an error that names it', () => {
  test('a type', () => {
    const stacks = { Test: { Resources: { Stream: { Type: 'AWS::Kinesis::Stream' } } } };
    expect(() => evaluate(stacks)).toThrow(
      'Test/Stream (AWS::Kinesis::Stream): the local cloud does not know this type.',
    );
  });

  test('a property', () => {
    const stacks = { Test: { Resources: { Queue: { Type: 'AWS::SQS::Queue', Properties: { FifoQueue: true } } } } };
    expect(() => evaluate(stacks)).toThrow(
      'Test/Queue (AWS::SQS::Queue): the local cloud does not act on the property FifoQueue',
    );
  });

  test('a harmless property is not', () => {
    const Properties = { Tags: [{ Key: 'a', Value: { Ref: 'Unknown' } }] };
    const stacks = { Test: { Resources: { Queue: { Type: 'AWS::SQS::Queue', Properties } } } };
    expect(evaluate(stacks).resources[0]?.properties).toEqual({});
  });

  test('an export that two stacks give', () => {
    const stack = { Resources: {}, Outputs: { Out: { Value: 'v', Export: { Name: 'shared' } } } };
    expect(() => evaluate({ One: stack, Two: stack })).toThrow('Two, output Out: the export shared exists already.');
  });

  test('a directory without an assembly', () => {
    expect(() => loadAssembly('/nowhere')).toThrow('There is no /nowhere/manifest.json.');
  });
});
