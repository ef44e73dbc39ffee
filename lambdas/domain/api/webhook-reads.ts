import * as v from 'valibot';
import { InvalidCursorError } from '../errors.ts';
import type { WebhookStore } from '../webhooks/ports.ts';
import { decodeCursor, encodeCursor, invalidCursor } from './cursor.ts';
import { parseQuery } from './input.ts';
import type { Answer } from './request.ts';
import { noParametersSchema } from './schemas.ts';
import { deliveryListParametersSchema } from './webhook-schemas.ts';
import { deliveryView, isDeliveryId, webhookView } from './webhook-views.ts';
import { findWebhook, noDelivery } from './webhooks.ts';

export interface ReadWebhooksDeps {
  webhooks: Pick<WebhookStore, 'listEndpoints' | 'getEndpoint' | 'getDelivery' | 'listDeliveries'>;
}

/** GET /v1/webhooks */
export const listWebhooks =
  ({ webhooks }: ReadWebhooksDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    return { status: 200, body: { items: (await webhooks.listEndpoints(tenantId)).map(webhookView) } };
  };

/** GET /v1/webhooks/{webhookId} */
export const getWebhook =
  ({ webhooks }: ReadWebhooksDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    return { status: 200, body: webhookView(await findWebhook(webhooks, tenantId, request)) };
  };

/** GET /v1/webhook-deliveries */
export const listDeliveries =
  ({ webhooks }: ReadWebhooksDeps): Answer =>
  async (request, { tenantId }) => {
    const { webhookId, submissionId, state, limit, cursor } = parseQuery(deliveryListParametersSchema, request.query);
    const scope = ['deliveries', tenantId, webhookId ?? '', submissionId ?? '', state ?? ''];
    const query = {
      tenantId,
      limit,
      ...(webhookId !== undefined && { endpointId: webhookId }),
      ...(submissionId !== undefined && { submissionId }),
      ...(state !== undefined && { state }),
      ...(cursor !== undefined && { cursor: decodeCursor(scope, v.string(), cursor) }),
    };
    const page = await webhooks.listDeliveries(query).catch((error: unknown) => {
      // A forged position inside of a well-formed cursor.
      throw error instanceof InvalidCursorError ? invalidCursor(error) : error;
    });
    const nextCursor = page.nextCursor === undefined ? null : encodeCursor(scope, page.nextCursor);
    return { status: 200, body: { items: page.items.map(deliveryView), nextCursor } };
  };

/** GET /v1/webhook-deliveries/{deliveryId} */
export const getDelivery =
  ({ webhooks }: ReadWebhooksDeps): Answer =>
  async (request, { tenantId }) => {
    parseQuery(noParametersSchema, request.query);
    const id = request.path['deliveryId'] ?? '';
    const delivery = isDeliveryId(id) ? await webhooks.getDelivery(tenantId, id) : undefined;
    if (delivery === undefined) throw noDelivery();
    return { status: 200, body: deliveryView(delivery) };
  };
