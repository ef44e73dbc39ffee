import { createServer, type Server } from 'node:http';
import type { Cloud, FunctionInvoker } from '../contract.ts';
import { LocalCloudError } from '../errors.ts';
import { mayWriteAccessLog } from './access-log.ts';
import { readApis } from './definition.ts';
import { Gateway, type RequestReport } from './gateway.ts';

/** Request line and headers together, https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html */
const MAX_HEADER_BYTES = 10_240;

export type { RequestReport } from './gateway.ts';

export interface ApiGatewayOptions {
  readonly cloud: Cloud;
  readonly invoker: FunctionInvoker;
  readonly onRequest?: (report: RequestReport) => void;
  readonly onAccessLog?: (logGroup: string, line: string) => void;
  /** Default 0: any free port. */
  readonly port?: number | undefined;
}

/** The REST API, served on this machine. */
export interface ApiGateway {
  /** `http://127.0.0.1:PORT/<stage>`; the API's paths are appended. */
  readonly apiUrl: string;
  stop(): Promise<void>;
}

/**
 * Serves the REST API of the templates.
 *
 * @returns undefined where they declare none
 * @throws LocalCloudError when there is more than one, or naming a resource of it that is not supported
 */
export async function startApiGateway(options: ApiGatewayOptions): Promise<ApiGateway | undefined> {
  const { cloud, invoker, port = 0 } = options;
  const apis = readApis(cloud);
  const [api] = apis;
  if (api === undefined) return undefined;
  if (apis.length > 1) {
    throw new LocalCloudError(`The templates have ${apis.length} REST APIs; one at most is supported here.`);
  }
  const logsAccess = api.accessLog !== undefined && (await mayWriteAccessLog(cloud, api.accessLog.logGroup));
  const gateway = new Gateway({
    api,
    cloud,
    invoker,
    onRequest: options.onRequest ?? (() => undefined),
    onAccessLog: (logsAccess ? options.onAccessLog : undefined) ?? (() => undefined),
  });
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: 65_000 }, (request, response) => {
    void gateway.handle(request, response);
  });
  await listen(server, port);
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new LocalCloudError('The API has no port.');
  return {
    apiUrl: `http://127.0.0.1:${address.port}/${api.stageName}`,
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((done, failed) => {
    server.once('error', failed);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', failed);
      done();
    });
  });
}
