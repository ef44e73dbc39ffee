import type { Lane } from './model.ts';

/** What happened, for logs and metrics. Names are stable; fields are an allow-list without record content. */
export interface Telemetry {
  emit(event: DomainEvent): void;
}

export interface EventFields {
  submissionId?: string;
  tenantId?: string;
  recordNo?: number;
  attempt?: number;
  lane?: Lane;
  provider?: string;
  /** A reason code, or the code of a rejected file. */
  reason?: string;
  outcome?: string;
  generation?: number;
  count?: number;
  durationMs?: number;
  ageMs?: number;
  detail?: string;
}

export interface DomainEvent extends EventFields {
  name:
    | 'record_finished'
    | 'record_attempt_failed'
    | 'record_deferred'
    | 'record_discarded'
    | 'record_resent'
    | 'records_stopped'
    | 'message_dead_lettered'
    | 'message_set_apart'
    | 'message_handed_back'
    | 'isolated_run_started'
    | 'provider_call'
    | 'answers_reused'
    | 'provider_blocked'
    | 'provider_pace_lowered'
    | 'canary_refused'
    | 'credential_refused'
    | 'pacer_wait'
    | 'breaker_opened'
    | 'breaker_closed'
    | 'probe_started'
    | 'source_prepared'
    | 'prepare_continued'
    | 'fanout_started'
    | 'fanout_checkpoint'
    | 'fanout_continued'
    | 'fanout_finished'
    | 'submission_accepted'
    | 'submission_rejected'
    | 'submission_finalizing'
    | 'submission_finished'
    | 'submission_reopened'
    | 'submission_stopped'
    | 'outbox_relayed'
    | 'fanout_restarted'
    | 'finalize_restarted'
    | 'ledger_repaired'
    | 'conservation_broken'
    | 'results_part_written'
    | 'webhook_retried'
    | 'webhook_ended'
    | 'reconciled'
    | 'redriven'
    | 'gauge'
    | 'slow_answer'
    | 'unexpected_error';
  level: 'debug' | 'info' | 'warn' | 'error';
  error?: unknown;
}
