import { HARMLESS, type Naming, type ResourceModel, withoutArn, words } from './model.ts';

/** A child of a REST API, with the ARN that API Gateway's own policies use. */
function child(understood: readonly string[], kind: string, attribute: string | undefined): ResourceModel {
  return {
    understood,
    identify: (naming) => {
      const id = naming.shortId(6);
      const attributes = attribute === undefined ? {} : { [attribute]: id };
      return { physicalId: id, arn: apiArn(naming, kind, id), attributes };
    },
  };
}

function apiArn(naming: Naming, kind: string, id: string): string {
  return `arn:aws:apigateway:${naming.environment.region}::/restapis/${naming.text('RestApiId') ?? ''}/${kind}/${id}`;
}

/** The REST API and its parts; the front for it serves them under its own address. */
export const apiTypes: Readonly<Record<string, ResourceModel>> = {
  'AWS::ApiGateway::RestApi': {
    understood: words(`
        ApiKeySourceType BinaryMediaTypes Description EndpointConfiguration MinimumCompressionSize Name
        Policy`),
    harmless: {
      DisableExecuteApiEndpoint: 'there is no other endpoint here',
      FailOnWarnings: 'nothing is imported',
      SecurityPolicy: 'there is no TLS on this machine',
      Tags: HARMLESS.tags,
    },
    identify: (naming) => {
      const id = naming.shortId();
      const arn = `arn:aws:apigateway:${naming.environment.region}::/restapis/${id}`;
      const root = naming.environment.names.lower(10, naming.stack, naming.logicalId, 'root');
      return { physicalId: id, arn, attributes: { RestApiId: id, RootResourceId: root } };
    },
  },
  'AWS::ApiGateway::Resource': child(['ParentId', 'PathPart', 'RestApiId'], 'resources', 'ResourceId'),
  'AWS::ApiGateway::Method': child(
    words(`
        ApiKeyRequired AuthorizationScopes AuthorizationType AuthorizerId HttpMethod Integration
        MethodResponses OperationName RequestModels RequestParameters RequestValidatorId ResourceId
        RestApiId`),
    'methods',
    undefined,
  ),
  'AWS::ApiGateway::Authorizer': child(
    words(`
        AuthType AuthorizerCredentials AuthorizerResultTtlInSeconds AuthorizerUri IdentitySource
        IdentityValidationExpression Name RestApiId Type`),
    'authorizers',
    'AuthorizerId',
  ),
  'AWS::ApiGateway::RequestValidator': child(
    ['Name', 'RestApiId', 'ValidateRequestBody', 'ValidateRequestParameters'],
    'requestvalidators',
    'RequestValidatorId',
  ),
  'AWS::ApiGateway::Model': withoutArn(
    words('ContentType Description Name RestApiId Schema'),
    (naming) => naming.text('Name') ?? naming.logicalId,
  ),
  'AWS::ApiGateway::GatewayResponse': withoutArn(
    words('ResponseParameters ResponseTemplates ResponseType RestApiId StatusCode'),
    (naming) => naming.shortId(),
  ),
  'AWS::ApiGateway::Deployment': child(['Description', 'RestApiId', 'StageName'], 'deployments', 'DeploymentId'),
  'AWS::ApiGateway::Stage': {
    understood: words(`
        AccessLogSetting DeploymentId Description MethodSettings RestApiId StageName Variables`),
    harmless: { Tags: HARMLESS.tags, TracingEnabled: HARMLESS.tracing },
    identify: (naming) => {
      const name = naming.text('StageName') ?? naming.logicalId;
      return { physicalId: name, arn: apiArn(naming, 'stages', name), attributes: {} };
    },
  },
  'AWS::ApiGateway::Account': withoutArn(['CloudWatchRoleArn'], (naming) => naming.shortId()),
};
