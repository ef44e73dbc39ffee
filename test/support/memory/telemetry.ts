import type { DomainEvent, Telemetry } from '../../../lambdas/domain/telemetry.ts';

export interface MemoryTelemetry extends Telemetry {
  readonly events: DomainEvent[];
  named(name: DomainEvent['name']): DomainEvent[];
}

/** Keeps every event, for assertions. */
export function createMemoryTelemetry(): MemoryTelemetry {
  const events: DomainEvent[] = [];
  return {
    events,
    emit(event) {
      events.push(event);
    },
    named: (name) => events.filter((event) => event.name === name),
  };
}
