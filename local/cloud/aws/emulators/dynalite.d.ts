declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** An HTTP server that speaks DynamoDB's protocol and keeps its tables in memory. */
  export default function dynalite(options: {
    createTableMs?: number;
    deleteTableMs?: number;
    updateTableMs?: number;
  }): Server;
}
