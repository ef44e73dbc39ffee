import * as v from 'valibot';
import dev from '../../config/stages/dev.ts';
import prod from '../../config/stages/prod.ts';
import { synthesize } from './synthesized.ts';

const stages = { dev: synthesize(dev), prod: synthesize(prod) };

describe('the alarm topic', () => {
  const topicSchema = v.object({ KmsMasterKeyId: v.unknown() });
  const statementsSchema = v.object({
    PolicyDocument: v.object({ Statement: v.array(v.record(v.string(), v.unknown())) }),
  });
  const keySchema = v.object({
    EnableKeyRotation: v.literal(true),
    KeyPolicy: v.object({ Statement: v.array(v.record(v.string(), v.unknown())) }),
  });
  const ofThisAccount = { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } };
  const cloudWatch = { Service: 'cloudwatch.amazonaws.com' };

  it('has a key that alarms of this account may use', () => {
    const [topic] = stages.prod.ofType('AWS::SNS::Topic', topicSchema);
    const [key] = stages.prod.ofType('AWS::KMS::Key', keySchema);
    expect(stages.prod.referenced(topic?.properties.KmsMasterKeyId)).toBe(key?.id);
    expect(key?.properties.KeyPolicy.Statement).toContainEqual(
      expect.objectContaining({
        Principal: cloudWatch,
        Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
        Condition: ofThisAccount,
      }),
    );
  });

  it('takes alarms of this account, over TLS only', () => {
    const [policy] = stages.prod.ofType('AWS::SNS::TopicPolicy', statementsSchema);
    expect(policy?.properties.PolicyDocument.Statement).toEqual([
      expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      expect.objectContaining({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: cloudWatch,
        Condition: ofThisAccount,
      }),
    ]);
  });

  it('mails to the configured address, and to nobody where there is none', () => {
    const subscription = v.object({ Protocol: v.literal('email'), Endpoint: v.string() });
    const addresses = (stage: keyof typeof stages) =>
      stages[stage].ofType('AWS::SNS::Subscription', subscription).map(({ properties }) => properties.Endpoint);
    expect(addresses('prod')).toEqual([prod.alarms.email]);
    expect(addresses('dev')).toEqual([]);
  });
});
