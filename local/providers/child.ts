import { createProvidersServer } from './server.ts';
import type { StandInOptions } from './stand-in.ts';

/** What the parent sends first. It is the same program, so it is trusted to have this shape. */
interface Start {
  options: readonly StandInOptions[];
  port: number;
}

process.once('message', ({ options, port }: Start) => {
  const server = createProvidersServer(options);
  server.listen(port, '127.0.0.1', () => {
    const address = server.address();
    process.send?.({ port: typeof address === 'object' ? address?.port : undefined });
  });
});

// Ctrl-C reaches every process of the terminal; the parent decides when this one ends.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit());
