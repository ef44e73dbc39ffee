import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

export interface SavedQuery {
  /** As it is listed in CloudWatch, below `sluice-<stage>/`. */
  readonly name: string;
  readonly logs: 'functions' | 'api';
  readonly query: string;
}

/** Also on the dashboard. */
export const FAILURES_BY_REASON: SavedQuery = {
  name: 'Failures by reason',
  logs: 'functions',
  query: `filter message = "record_finished" and outcome in ["failed", "dead_lettered"]
| stats count() as records, min(submissionId) as example by lane, outcome, reason
| sort records desc`,
};

/** The saved queries. Names of fields are those of lambdas/runtime/log-fields.ts and of the API's access log. */
export const SAVED_QUERIES: readonly SavedQuery[] = [
  {
    name: 'Everything about a submission',
    logs: 'functions',
    query: `fields @timestamp, service, message, recordNo, attempt, outcome, reason, provider, detail, failure.name, requestId
| filter submissionId = "sub_..."
| sort @timestamp asc
| limit 1000`,
  },
  {
    name: 'Everything about a record',
    logs: 'functions',
    query: `fields @timestamp, service, message, attempt, generation, outcome, reason, provider, durationMs, detail, requestId
| filter submissionId = "sub_..." and recordNo = 1
| sort @timestamp asc`,
  },
  FAILURES_BY_REASON,
  {
    name: 'Failed attempts by provider and reason',
    logs: 'functions',
    query: `filter message = "record_attempt_failed"
| stats count() as attempts by provider, reason, bin(5m) as time
| sort time desc`,
  },
  {
    name: 'Slowest provider calls',
    logs: 'functions',
    query: `fields @timestamp, provider, durationMs, outcome, submissionId, recordNo, requestId
| filter message = "provider_call"
| sort durationMs desc
| limit 50`,
  },
  {
    name: 'Outages, throttles and refused credentials',
    logs: 'functions',
    query: `fields @timestamp, provider, message, reason, durationMs, detail
| filter message in ["breaker_opened", "breaker_closed", "probe_started", "provider_blocked", "credential_refused"]
| sort @timestamp desc
| limit 200`,
  },
  {
    name: 'Invocations that fail, and functions that cannot start',
    logs: 'functions',
    query: `fields @timestamp, @log, @message
| filter @message like /Uncaught Exception|Unhandled Promise Rejection|Invoke Error|Task timed out|Runtime exited|signal: killed/
| sort @timestamp desc
| limit 50`,
  },
  {
    name: 'Unexpected errors',
    logs: 'functions',
    query: `fields @timestamp, service, submissionId, recordNo, detail, failure.name, failure.message, failure.stack.0
| filter message = "unexpected_error" and level = "ERROR"
| sort @timestamp desc
| limit 100`,
  },
  {
    name: 'Calls to AWS that failed',
    logs: 'functions',
    query: `filter message = "unexpected_error" and level = "WARN"
| stats count() as failures by service, failure.name, failure.code, failure.cause.name, failure.cause.code
| sort failures desc`,
  },
  {
    name: 'Denied or misconfigured',
    logs: 'functions',
    query: `filter ispresent(failure.action)
| stats count() as calls, max(@timestamp) as latest by service, failure.action, failure.resource, failure.cause.name
| sort calls desc`,
  },
  {
    name: 'Records that kill workers',
    logs: 'functions',
    query: `filter message = "isolated_run_started"
| stats count() as starts, max(count) as receives by lane, submissionId, recordNo
| sort receives desc
| limit 50`,
  },
  {
    name: 'What had to be repaired',
    logs: 'functions',
    query: `fields @timestamp, message, submissionId, lane, count, ageMs
| filter message in ["outbox_relayed", "fanout_restarted", "finalize_restarted", "record_resent", "ledger_repaired", "submission_reopened"]
| sort @timestamp desc
| limit 200`,
  },
  {
    name: 'Who submits how much',
    logs: 'functions',
    query: `filter message = "submission_accepted"
| stats count() as files, sum(count) as records by tenantId
| sort records desc`,
  },
  {
    name: 'Server errors of the API',
    logs: 'api',
    query: `filter status >= 500
| stats count() as requests, min(functionRequestId) as example by route, method, status, error
| sort requests desc`,
  },
  {
    name: 'Slow requests of the API',
    logs: 'api',
    query: `fields @timestamp, method, route, status, latencyMs, functionLatencyMs, tenantId, functionRequestId
| sort latencyMs desc
| limit 50`,
  },
];

export interface SavedQueriesProps {
  readonly stageName: string;
  readonly functionLogs: readonly logs.ILogGroup[];
  readonly accessLog: logs.ILogGroup;
}

/** The queries in CloudWatch Logs Insights, in a folder of the stage. */
export class SavedQueries extends Construct {
  constructor(scope: Construct, id: string, { stageName, functionLogs, accessLog }: SavedQueriesProps) {
    super(scope, id);
    const groups = { functions: functionLogs, api: [accessLog] };
    for (const saved of SAVED_QUERIES) {
      new logs.CfnQueryDefinition(
        this,
        saved.name.replaceAll(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase()),
        {
          name: `sluice-${stageName}/${saved.name}`,
          queryString: saved.query,
          logGroupNames: groups[saved.logs].map(({ logGroupName }) => logGroupName),
        },
      );
    }
  }
}
