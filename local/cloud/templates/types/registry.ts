import { apiTypes } from './api.ts';
import { computeTypes } from './compute.ts';
import { dataTypes } from './data.ts';
import { messagingTypes } from './messaging.ts';
import type { ResourceModel } from './model.ts';
import { operationsTypes } from './operations.ts';

/** Every CloudFormation type that the local cloud knows. */
export const resourceModels: Readonly<Record<string, ResourceModel>> = {
  ...dataTypes,
  ...messagingTypes,
  ...computeTypes,
  ...apiTypes,
  ...operationsTypes,
};

/** Types that are left out, each with the reason why leaving them out changes nothing on this machine. */
export const ignoredTypes: Readonly<Record<string, string>> = {
  'AWS::CDK::Metadata': 'counts which CDK version deployed the stack',
  'Custom::S3AutoDeleteObjects': 'empties a bucket when its stack is deleted; here everything ends with the process',
};
