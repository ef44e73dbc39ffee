import { jest } from '@jest/globals';

/** A local cloud synthesizes the stacks, bundles the functions and forks their environments before the first request. */
jest.setTimeout(180_000);
