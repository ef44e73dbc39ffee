import dynalite from 'dynalite';
import { serveCommands } from './protocol.ts';

// The account and region in table ARNs come from the environment that the main thread gives to this thread.
const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
// The front keeps its connections open; one that is closed just as a request is sent would fail it.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  serveCommands(typeof address === 'object' && address !== null ? address.port : 0, {});
});
