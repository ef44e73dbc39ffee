// Made by `npm run openapi` from lambdas/domain/api/openapi.ts. Do not edit.

export interface paths {
  '/v1/openapi.json': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * This document
     * @description Needs no key.
     */
    get: operations['getDescription'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/uploads': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Ask for a place to upload one file to
     * @description Needs a key with the scope `submit`.
     */
    post: operations['createUpload'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/previews': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Look at an uploaded file before it is submitted
     * @description What the file is, what would become of its first records, and which profile makes more of them right. No provider is called and nothing is stored. Needs a key with the scope `submit`.
     */
    post: operations['createPreview'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/submissions': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Submissions, newest first
     * @description Needs a key with the scope `read`.
     */
    get: operations['listSubmissions'];
    put?: never;
    /**
     * Submit an uploaded file, or a file in the body
     * @description Needs a key with the scope `submit`.
     */
    post: operations['createSubmission'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/submissions/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * State, counts and failures of a submission
     * @description With `wait`, the answer is held back until the submission has ended or, with `If-None-Match`, has changed; at most for so many seconds. Needs a key with the scope `read`.
     */
    get: operations['getSubmission'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/submissions/{id}/cancel': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Stop a submission; finished records keep their outcome
     * @description Needs a key with the scope `submit`.
     */
    post: operations['cancelSubmission'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/submissions/{id}/records': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Records of a submission, by record number
     * @description Needs a key with the scope `read`.
     */
    get: operations['listRecords'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/submissions/{id}/records/{recordNo}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * What happened to one record
     * @description Needs a key with the scope `read`.
     */
    get: operations['getRecord'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/submissions/{id}/results': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Links to the result files of a submission that has ended
     * @description Needs a key with the scope `read`.
     */
    get: operations['getResults'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/profiles': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The newest version of each profile, by name
     * @description Needs a key with the scope `read`.
     */
    get: operations['listProfiles'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/profiles/{name}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * A profile: its newest version, or the one that the name ends with (`name@2`)
     * @description Needs a key with the scope `read`.
     */
    get: operations['getProfile'];
    /**
     * Make a profile, or a new version of it
     * @description Submissions that were accepted with an earlier version keep what it said. Where nothing is new, the version stays. Needs a key with the scope `submit`.
     */
    put: operations['putProfile'];
    post?: never;
    /**
     * Delete a profile; answers with its last version
     * @description Needs a key with the scope `submit`.
     */
    delete: operations['deleteProfile'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Webhooks, oldest first
     * @description Needs a key with the scope `read`.
     */
    get: operations['listWebhooks'];
    put?: never;
    /**
     * Name a URL that events are sent to; answers with its secret, once
     * @description Needs a key with the scope `submit`.
     */
    post: operations['createWebhook'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/{webhookId}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * A webhook, without its secret
     * @description Needs a key with the scope `read`.
     */
    get: operations['getWebhook'];
    /**
     * Change all of a webhook but its secret; enable or disable it
     * @description Needs a key with the scope `submit`.
     */
    put: operations['putWebhook'];
    post?: never;
    /**
     * Delete a webhook; answers with what it was
     * @description Deliveries that wait for their next attempt end as `disabled`. Needs a key with the scope `submit`.
     */
    delete: operations['deleteWebhook'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/{webhookId}/rotate': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Make a new secret; answers with it, once
     * @description The secret before signs as well for `overlapHours`. For `callback` this makes the secret of the URLs that submissions name: without it they are sent unsigned. Needs a key with the scope `submit`.
     */
    post: operations['rotateWebhookSecret'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhooks/{webhookId}/test': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Send an event of the type `webhook.test`
     * @description Needs a key with the scope `submit`.
     */
    post: operations['testWebhook'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhook-deliveries': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Deliveries of events, newest first
     * @description Needs a key with the scope `read`.
     */
    get: operations['listDeliveries'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhook-deliveries/{deliveryId}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * A delivery, with its newest attempt
     * @description Needs a key with the scope `read`.
     */
    get: operations['getDelivery'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/v1/webhook-deliveries/{deliveryId}/resend': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Send a delivery again, now and with a new series of attempts
     * @description Needs a key with the scope `submit`.
     */
    post: operations['resendDelivery'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export interface webhooks {
  submissionEnded: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * A submission has ended
     * @description Signed by the Standard Webhooks specification. Answer with any 2xx within ten seconds.
     */
    post: operations['submissionEnded'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export interface components {
  schemas: {
    Problem: {
      type: string;
      title: string;
      status?: number;
      /**
       * @description Stable; decide by this. New ones may be added.
       * @enum {string}
       */
      code:
        | 'invalid_request'
        | 'invalid_json'
        | 'invalid_cursor'
        | 'unauthorized'
        | 'missing_scope'
        | 'not_found'
        | 'method_not_allowed'
        | 'not_ready'
        | 'no_results'
        | 'already_closed'
        | 'request_in_progress'
        | 'body_too_large'
        | 'file_too_large'
        | 'unsupported_media_type'
        | 'upload_missing'
        | 'too_large_to_preview'
        | 'profile_missing'
        | 'too_many_profiles'
        | 'too_many_webhooks'
        | 'webhook_disabled'
        | 'upload_expired'
        | 'too_many_records'
        | 'idempotency_key_reused'
        | 'too_many_open_records'
        | 'too_many_open_submissions'
        | 'too_many_requests'
        | 'internal_error'
        | 'system_busy'
        | 'unavailable'
        | 'timed_out';
      detail?: string;
      errors?: {
        /** @description JSON pointer into the body. */
        pointer?: string;
        parameter?: string;
        header?: string;
        detail: string;
      }[];
      retryAfterSeconds?: number;
      requestId?: string;
    };
    Upload: {
      uploadId: string;
      /** @constant */
      method: 'PUT';
      url: string;
      /** @description To be sent exactly so: they are part of the signature. */
      headers: {
        [key: string]: string;
      };
      /** Format: date-time */
      expiresAt: string;
    };
    Preview: {
      uploadId: string;
      format: string;
      /** @description Present where the file will be unpacked or decoded before its records are read. */
      preparedFrom?: {
        /** @description gzip, zip, xlsx, text; new ones may be added. */
        kind: string;
        member?: string;
        sheet?: string;
        charset?: string;
      };
      delimiter?: string;
      headerLine?: number;
      /** @description Names of the columns, in order; at most 500. */
      columns: string[];
      /** @description What becomes of the file with the profile of the request, or with none. */
      asGiven: {
        /** @description Present where the file would be rejected: the `reason` and `message` of the submission. */
        refused?: {
          code: string;
          detail: string;
          line?: number;
        };
        /** @description Records that were looked at: at most the first 1,000. */
        examined?: number;
        valid?: number;
        invalid?: number;
        /** @description Why records would fail, most frequent first. */
        faults?: {
          /** @description Absent where the row is no record. */
          field?: string;
          /** @description Code of a row that is no record. */
          defect?: string;
          detail: string;
          count: number;
          /** @description Of the first of them. */
          lines: number[];
          /** @description Values of the field there, shortened. */
          examples?: string[];
        }[];
        /** @description Wrong fields that nothing looks up by: their records are worked all the same. */
        warnings?: {
          /** @description Absent where the row is no record. */
          field?: string;
          /** @description Code of a row that is no record. */
          defect?: string;
          detail: string;
          count: number;
          /** @description Of the first of them. */
          lines: number[];
          /** @description Values of the field there, shortened. */
          examples?: string[];
        }[];
        /** @description The first records, at most 20. */
        records?: {
          recordNo: number;
          line: number;
          /** @description As it was sent. */
          record?: {
            [key: string]: unknown;
          };
          /** @description What is checked and looked up, where it is not what was sent. */
          used?: {
            [key: string]: unknown;
          };
          problems?: string[];
        }[];
      };
      /** @description The same with `profile`: that of the request with every suggestion applied. */
      asProposed?: {
        /** @description Present where the file would be rejected: the `reason` and `message` of the submission. */
        refused?: {
          code: string;
          detail: string;
          line?: number;
        };
        /** @description Records that were looked at: at most the first 1,000. */
        examined?: number;
        valid?: number;
        invalid?: number;
        /** @description Why records would fail, most frequent first. */
        faults?: {
          /** @description Absent where the row is no record. */
          field?: string;
          /** @description Code of a row that is no record. */
          defect?: string;
          detail: string;
          count: number;
          /** @description Of the first of them. */
          lines: number[];
          /** @description Values of the field there, shortened. */
          examples?: string[];
        }[];
        /** @description Wrong fields that nothing looks up by: their records are worked all the same. */
        warnings?: {
          /** @description Absent where the row is no record. */
          field?: string;
          /** @description Code of a row that is no record. */
          defect?: string;
          detail: string;
          count: number;
          /** @description Of the first of them. */
          lines: number[];
          /** @description Values of the field there, shortened. */
          examples?: string[];
        }[];
        /** @description The first records, at most 20. */
        records?: {
          recordNo: number;
          line: number;
          /** @description As it was sent. */
          record?: {
            [key: string]: unknown;
          };
          /** @description What is checked and looked up, where it is not what was sent. */
          used?: {
            [key: string]: unknown;
          };
          problems?: string[];
        }[];
        profile: {
          /** @description How the file is cut into records. */
          reading?: {
            /**
             * @description As `format` of the submission, which goes before it.
             * @enum {string}
             */
            format?: 'csv' | 'ndjson' | 'json';
            /** @description Character set of a text that is not UTF-8 and has no mark. */
            encoding?: string;
            /** @description Sheet of a workbook; the first one without it. */
            sheet?: string;
            /** @description Found by the header where it is absent. */
            delimiter?: string;
            /**
             * @description What stands around a cell. `"` where it is absent.
             * @enum {string}
             */
            quote?: '"' | "'" | '';
            /**
             * @description How a quote is written in a quoted cell. Found by the first rows where it is absent.
             * @enum {string}
             */
            escape?: '"' | '\\';
            /** @description Line of the header; 0 for a file without one, whose columns are `column_1`, `column_2`… */
            headerRow?: 'found' | number;
            /** @description Rows at the end that are no records: notes, totals. */
            skipRowsAtEnd?: number;
            /**
             * @description Whether the cells that a row lacks at its end are empty. `refuse` where it is absent.
             * @enum {string}
             */
            shortRows?: 'refuse' | 'fill';
            /** @description Cells that mean: no value. For example `NULL`, `\N`, `n/a`. */
            nullTexts?: string[];
          };
          /** @description By field of the record: the column it comes from. Fields that are not named come from the column of their name. */
          columns?: {
            [key: string]:
              | string
              | {
                  position: number;
                }
              | {
                  constant: string;
                }
              | {
                  /** @constant */
                  rowNumber: true;
                };
          };
          /** @description By field of the record: steps that are applied in order to the value before it is checked and looked up by. `["trim"]` where it is absent. */
          normalise?: {
            [key: string]: (
              | 'trim'
              | 'nfc'
              | 'unwrap_formula'
              | 'host_of_url'
              | 'host_of_email'
              | 'country_alpha2'
              | 'postal_code'
              | 'lower'
              | 'upper'
            )[];
          };
          /**
           * @description Of two records with the same identifier, whether the later one is refused. `allow` where it is absent.
           * @enum {string}
           */
          duplicates?: 'allow' | 'reject_later';
          /** @description How CSV results are written. */
          results?: {
            /** @description CSV results begin with a byte order mark. `false` where it is absent. */
            bom?: boolean;
            /** @description CSV results have an apostrophe before what a spreadsheet would calculate. `true` where it is absent. */
            guard?: boolean;
          };
        };
      };
      /** @description What would help, each with the part of a profile that does it. */
      suggestions: {
        detail: string;
        profile: {
          /** @description How the file is cut into records. */
          reading?: {
            /**
             * @description As `format` of the submission, which goes before it.
             * @enum {string}
             */
            format?: 'csv' | 'ndjson' | 'json';
            /** @description Character set of a text that is not UTF-8 and has no mark. */
            encoding?: string;
            /** @description Sheet of a workbook; the first one without it. */
            sheet?: string;
            /** @description Found by the header where it is absent. */
            delimiter?: string;
            /**
             * @description What stands around a cell. `"` where it is absent.
             * @enum {string}
             */
            quote?: '"' | "'" | '';
            /**
             * @description How a quote is written in a quoted cell. Found by the first rows where it is absent.
             * @enum {string}
             */
            escape?: '"' | '\\';
            /** @description Line of the header; 0 for a file without one, whose columns are `column_1`, `column_2`… */
            headerRow?: 'found' | number;
            /** @description Rows at the end that are no records: notes, totals. */
            skipRowsAtEnd?: number;
            /**
             * @description Whether the cells that a row lacks at its end are empty. `refuse` where it is absent.
             * @enum {string}
             */
            shortRows?: 'refuse' | 'fill';
            /** @description Cells that mean: no value. For example `NULL`, `\N`, `n/a`. */
            nullTexts?: string[];
          };
          /** @description By field of the record: the column it comes from. Fields that are not named come from the column of their name. */
          columns?: {
            [key: string]:
              | string
              | {
                  position: number;
                }
              | {
                  constant: string;
                }
              | {
                  /** @constant */
                  rowNumber: true;
                };
          };
          /** @description By field of the record: steps that are applied in order to the value before it is checked and looked up by. `["trim"]` where it is absent. */
          normalise?: {
            [key: string]: (
              | 'trim'
              | 'nfc'
              | 'unwrap_formula'
              | 'host_of_url'
              | 'host_of_email'
              | 'country_alpha2'
              | 'postal_code'
              | 'lower'
              | 'upper'
            )[];
          };
          /**
           * @description Of two records with the same identifier, whether the later one is refused. `allow` where it is absent.
           * @enum {string}
           */
          duplicates?: 'allow' | 'reject_later';
          /** @description How CSV results are written. */
          results?: {
            /** @description CSV results begin with a byte order mark. `false` where it is absent. */
            bom?: boolean;
            /** @description CSV results have an apostrophe before what a spreadsheet would calculate. `true` where it is absent. */
            guard?: boolean;
          };
        };
      }[];
      /** @description What only the customer knows. */
      questions: {
        field?: string;
        detail: string;
        /** @description Columns that may be meant. */
        candidates?: string[];
      }[];
      /** @description Of the whole file with the proposed profile. Absent where the size of an unpacked file is not known. */
      estimate?: {
        records: number;
        /** @description False where the number is estimated by the size of what was read. */
        isCounted: boolean;
        /** @description Calls of each provider, at most. */
        calls: {
          [key: string]: number;
        };
        /** @description What the calls cost at most. Absent where no call has a price. */
        cost?: number;
        /**
         * Format: date-time
         * @description If it is submitted now.
         */
        completionAt: string;
      };
    };
    Submission: {
      id: string;
      /** @enum {string} */
      state:
        | 'accepted'
        | 'processing'
        | 'finalizing'
        | 'cancelling'
        | 'complete'
        | 'partially_failed'
        | 'failed'
        | 'cancelled'
        | 'rejected'
        | 'expired';
      /** @description Why it was rejected, cancelled or expired: a stable code; of a file one of EMPTY_FILE, NO_RECORDS, COUNT_MISMATCH, NO_VALID_RECORDS, TOO_MANY_RECORDS, FORMAT_MISMATCH, MISSING_REQUIRED_COLUMN, INVALID_HEADER, EMPTY_HEADER, DUPLICATE_HEADER, RESERVED_HEADER, HEADER_TOO_LARGE, UNTERMINATED_QUOTE, TRUNCATED_ARRAY, INVALID_ARRAY, UNSUPPORTED_ENCODING, CHARSET_MISMATCH, UNSUPPORTED_COMPRESSION, UNSUPPORTED_CONTAINER, ENCRYPTED, DAMAGED_FILE, DECOMPRESSED_TOO_LARGE, ZIP_MEMBERS, SHEET_MISSING, FORMULA_WITHOUT_VALUE, FILE_CHANGED, FILE_MISSING, RESULTS_LOST. New ones may be added. */
      reason?: string;
      /** @description The reason in words, with the remedy. */
      message?: string;
      /** @description Null until the beginning of the file has been read. */
      lane: ('small' | 'bulk') | null;
      reference?: string;
      /** @description Present where the file was unpacked or decoded before its records were read. */
      preparedFrom?: {
        /** @description gzip, zip, xlsx, text; new ones may be added. */
        kind: string;
        /** @description The file in the archive. */
        member?: string;
        /** @description The sheet of the workbook. */
        sheet?: string;
        /** @description The character set of the text. */
        charset?: string;
      };
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      updatedAt: string;
      counts: {
        /** @description Null until the whole file has been read. */
        total: number | null;
        pending: number;
        succeeded: number;
        failed: number;
        cancelled: number;
      };
      /** @description Failed records by reason code. */
      failures: {
        [key: string]: number;
      };
      /**
       * Format: date-time
       * @description Present where the counts are older than the answer.
       */
      countsAsOf?: string;
      /** Format: date-time */
      estimatedCompletionAt?: string;
      /**
       * Format: date-time
       * @description When submission, records and results are deleted.
       */
      expiresAt: string;
      links: {
        self: string;
        records: string;
        results: string;
      };
    };
    SubmissionPage: {
      items: components['schemas']['Submission'][];
      /** @description Null on the last page. */
      nextCursor: string | null;
    };
    RecordPage: {
      items: components['schemas']['Record'][];
      /** @description Null on the last page. */
      nextCursor: string | null;
    };
    Record: {
      submissionId: string;
      recordNo: number;
      /** @enum {string} */
      state: 'pending' | 'retrying' | 'deferred' | 'succeeded' | 'failed' | 'dead_lettered' | 'cancelled';
      /** @enum {string} */
      reason?:
        | 'invalid_record'
        | 'malformed_row'
        | 'record_too_large'
        | 'duplicate_record_id'
        | 'provider_rejected'
        | 'provider_unavailable'
        | 'provider_timeout'
        | 'provider_bad_response'
        | 'attempts_exhausted'
        | 'worker_crashed'
        | 'internal_error'
        | 'deadline_passed'
        | 'cancelled'
        | 'provider_throttled'
        | 'provider_not_ready'
        | 'provider_auth'
        | 'provider_removed'
        | 'breaker_open'
        | 'pacer_full'
        | 'dependency_unavailable'
        | 'out_of_time'
        | 'message_lost'
        | 'redriven';
      /** @description The reason in words. */
      message?: string;
      attempts: number;
      waitingOn?: string;
      /** Format: date-time */
      waitingUntil?: string;
      /** Format: date-time */
      updatedAt?: string;
      /** @description Line of the file where the record begins; the row of a sheet. */
      line?: number;
      /** @description The record as it was sent. Absent in lists without `recordId`, and of a row that is no record. */
      record?: {
        [key: string]: unknown;
      };
      /** @description The fields that are checked and looked up, where they are not what was sent. Absent as `record` is. */
      used?: {
        [key: string]: unknown;
      };
      /** @description Of a succeeded record: its `record_id` and what each provider found, null where it found nothing. */
      output?: {
        [key: string]: unknown;
      };
    };
    Results: {
      /** @description Raised by every replay. */
      version: number;
      /** @enum {string} */
      state: 'complete' | 'partially_failed' | 'failed' | 'cancelled' | 'rejected' | 'expired';
      files: {
        /** @enum {string} */
        kind: 'succeeded' | 'failed';
        /** @enum {string} */
        format: 'ndjson' | 'csv';
        /** @description Parts follow each other in record order. */
        part: number;
        /** @description To be fetched without the API key, until it expires. Ask again for a fresh one. */
        url: string;
        /** Format: date-time */
        expiresAt: string;
        records: number;
        bytes: number;
        sha256: string;
      }[];
    };
    ProfileList: {
      items: {
        name: string;
        version: number;
        /** Format: date-time */
        updatedAt: string;
      }[];
    };
    StoredProfile: {
      name: string;
      /** @description Raised by every change. A version never changes. */
      version: number;
      /** Format: date-time */
      createdAt: string;
      profile: {
        /** @description How the file is cut into records. */
        reading?: {
          /**
           * @description As `format` of the submission, which goes before it.
           * @enum {string}
           */
          format?: 'csv' | 'ndjson' | 'json';
          /** @description Character set of a text that is not UTF-8 and has no mark. */
          encoding?: string;
          /** @description Sheet of a workbook; the first one without it. */
          sheet?: string;
          /** @description Found by the header where it is absent. */
          delimiter?: string;
          /**
           * @description What stands around a cell. `"` where it is absent.
           * @enum {string}
           */
          quote?: '"' | "'" | '';
          /**
           * @description How a quote is written in a quoted cell. Found by the first rows where it is absent.
           * @enum {string}
           */
          escape?: '"' | '\\';
          /** @description Line of the header; 0 for a file without one, whose columns are `column_1`, `column_2`… */
          headerRow?: 'found' | number;
          /** @description Rows at the end that are no records: notes, totals. */
          skipRowsAtEnd?: number;
          /**
           * @description Whether the cells that a row lacks at its end are empty. `refuse` where it is absent.
           * @enum {string}
           */
          shortRows?: 'refuse' | 'fill';
          /** @description Cells that mean: no value. For example `NULL`, `\N`, `n/a`. */
          nullTexts?: string[];
        };
        /** @description By field of the record: the column it comes from. Fields that are not named come from the column of their name. */
        columns?: {
          [key: string]:
            | string
            | {
                position: number;
              }
            | {
                constant: string;
              }
            | {
                /** @constant */
                rowNumber: true;
              };
        };
        /** @description By field of the record: steps that are applied in order to the value before it is checked and looked up by. `["trim"]` where it is absent. */
        normalise?: {
          [key: string]: (
            | 'trim'
            | 'nfc'
            | 'unwrap_formula'
            | 'host_of_url'
            | 'host_of_email'
            | 'country_alpha2'
            | 'postal_code'
            | 'lower'
            | 'upper'
          )[];
        };
        /**
         * @description Of two records with the same identifier, whether the later one is refused. `allow` where it is absent.
         * @enum {string}
         */
        duplicates?: 'allow' | 'reject_later';
        /** @description How CSV results are written. */
        results?: {
          /** @description CSV results begin with a byte order mark. `false` where it is absent. */
          bom?: boolean;
          /** @description CSV results have an apostrophe before what a spreadsheet would calculate. `true` where it is absent. */
          guard?: boolean;
        };
      };
    };
    NewWebhook: {
      id: string;
      url: string;
      /** @description None: all. */
      events: string[];
      description?: string;
      enabled: boolean;
      /** @description `gone`: its server answered 410. `by_request`: the customer disabled it. New ones may be added. */
      disabledBecause?: string;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      updatedAt: string;
      /** @description Shown once. Deliveries are signed with it. */
      secret: string;
    };
    WebhookList: {
      items: {
        id: string;
        url: string;
        /** @description None: all. */
        events: string[];
        description?: string;
        enabled: boolean;
        /** @description `gone`: its server answered 410. `by_request`: the customer disabled it. New ones may be added. */
        disabledBecause?: string;
        /** Format: date-time */
        createdAt: string;
        /** Format: date-time */
        updatedAt: string;
      }[];
    };
    Webhook: {
      id: string;
      url: string;
      /** @description None: all. */
      events: string[];
      description?: string;
      enabled: boolean;
      /** @description `gone`: its server answered 410. `by_request`: the customer disabled it. New ones may be added. */
      disabledBecause?: string;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      updatedAt: string;
    };
    WebhookSecret: {
      /** @description Shown once. Deliveries are signed with it. */
      secret: string;
      /**
       * Format: date-time
       * @description Until then deliveries carry a signature with the secret before as well.
       */
      previousUntil: string;
    };
    WebhookDelivery: {
      id: string;
      /** @description `callback` for the `callbackUrl` of a submission. */
      webhookId: string;
      /** @description The `webhook-id` that is sent: the same for all attempts. */
      eventId: string;
      type: string;
      submissionId?: string;
      /**
       * @description `given_up`: after the last attempt. `disabled`: the webhook was disabled or deleted before it was delivered.
       * @enum {string}
       */
      state: 'pending' | 'delivered' | 'given_up' | 'disabled';
      attempts: number;
      lastAttempt?: {
        /** Format: date-time */
        at: string;
        durationMs: number;
        /** @description Status of the answer. */
        status?: number;
        /** @description Why there was no answer: `timeout`, `dns`, `tls`, … */
        failure?: string;
        /** @description Beginning of an answer that was no success. */
        excerpt?: string;
      };
      /** Format: date-time */
      nextAttemptAt?: string;
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      updatedAt: string;
    };
    WebhookDeliveryPage: {
      items: {
        id: string;
        /** @description `callback` for the `callbackUrl` of a submission. */
        webhookId: string;
        /** @description The `webhook-id` that is sent: the same for all attempts. */
        eventId: string;
        type: string;
        submissionId?: string;
        /**
         * @description `given_up`: after the last attempt. `disabled`: the webhook was disabled or deleted before it was delivered.
         * @enum {string}
         */
        state: 'pending' | 'delivered' | 'given_up' | 'disabled';
        attempts: number;
        lastAttempt?: {
          /** Format: date-time */
          at: string;
          durationMs: number;
          /** @description Status of the answer. */
          status?: number;
          /** @description Why there was no answer: `timeout`, `dns`, `tls`, … */
          failure?: string;
          /** @description Beginning of an answer that was no success. */
          excerpt?: string;
        };
        /** Format: date-time */
        nextAttemptAt?: string;
        /** Format: date-time */
        createdAt: string;
        /** Format: date-time */
        updatedAt: string;
      }[];
      /** @description Null on the last page. */
      nextCursor: string | null;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: {
    /**
     * @description Identifies the request. Name it when you ask about an answer.
     * @example 0f9d1f3c-6b0e-4d0e-9a5e-3f1c2b7a9d10
     */
    'X-Request-Id': string;
    /**
     * @description URL of the submission.
     * @example https://api.example.com/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD
     */
    Location: string;
    /**
     * @description Changes whenever the submission does. Send it back as `If-None-Match`.
     * @example W/"4NUcoFYPqPb7vYqyTBcIvw"
     */
    ETag: string;
    /**
     * @description Present and true where an earlier request with the same idempotency key was accepted.
     * @example true
     */
    'Idempotency-Replayed': boolean;
    /**
     * @description What the tenant may have open at once: submissions, and records by estimate.
     * @example "submissions";q=100, "records";q=1000000
     */
    'RateLimit-Policy': string;
    /**
     * @description What is left of it after this request.
     * @example "submissions";r=99, "records";r=999800
     */
    RateLimit: string;
    /**
     * @description Seconds to wait before the request is repeated.
     * @example 5
     */
    'Retry-After': number;
    /**
     * @description The scheme by which a key is sent.
     * @example Bearer realm="sluice"
     */
    'WWW-Authenticate': string;
  };
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  getDescription: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Found */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/json': {
            [key: string]: unknown;
          };
        };
      };
      /** @description `invalid_request`: The request is not valid. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  createUpload: {
    parameters: {
      query?: never;
      header?: {
        /**
         * @description Repetitions with the same key and request are one request and get the current state of its result.
         * @example customers-2026-01
         */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: {
      content: {
        /**
         * @example {
         *       "fileName": "customers.csv",
         *       "sizeBytes": 18233
         *     }
         */
        'application/json': {
          /** @description Name of the file at the customer; only its last part is kept. Its ending tells the format where nothing else does. */
          fileName?: string;
          /** @description Size of the file, to be refused before uploading too much. */
          sizeBytes?: number;
        };
      };
    };
    responses: {
      /** @description Created */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Idempotency-Replayed': components['headers']['Idempotency-Replayed'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "uploadId": "up_01KE9Q5XW0V4T3Z8M2N6P7R1SD.Y3VzdG9tZXJzLmNzdg",
           *       "method": "PUT",
           *       "url": "https://bucket.s3.eu-central-1.amazonaws.com/uploads/acme/up_01KE9Q5XW0V4T3Z8M2N6P7R1SD?X-Amz-Signature=…",
           *       "headers": {
           *         "if-none-match": "*"
           *       },
           *       "expiresAt": "2026-01-05T09:15:00.000Z"
           *     }
           */
          'application/json': components['schemas']['Upload'];
        };
      };
      /** @description `invalid_request`: The request is not valid. `invalid_json`: The body is not the JSON object that was expected. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request' | 'invalid_json';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `request_in_progress`: A request with this idempotency key is still being processed. */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'request_in_progress';
          };
        };
      };
      /** @description `body_too_large`: The request body is too large: upload the file instead. `file_too_large`: The file is too large. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'body_too_large' | 'file_too_large';
          };
        };
      };
      /** @description `upload_expired`: The upload is too old to be submitted. `idempotency_key_reused`: The idempotency key was used for another request. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'upload_expired' | 'idempotency_key_reused';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  createPreview: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: {
      content: {
        /**
         * @example {
         *       "uploadId": "up_01KE9Q5XW0V4T3Z8M2N6P7R1SD.Y3VzdG9tZXJzLmNzdg"
         *     }
         */
        'application/json': {
          /** @description As POST /v1/uploads gave it. */
          uploadId: string;
          /**
           * @description Without it, the ending of the file name tells, and without that the first bytes of the file.
           * @enum {string}
           */
          format?: 'csv' | 'ndjson' | 'json';
          /** @description How the file is to be read, and which of its columns are which fields: a profile, or the name of one that is stored, as `name` or `name@version`. */
          profile?:
            | string
            | {
                /** @description How the file is cut into records. */
                reading?: {
                  /**
                   * @description As `format` of the submission, which goes before it.
                   * @enum {string}
                   */
                  format?: 'csv' | 'ndjson' | 'json';
                  /** @description Character set of a text that is not UTF-8 and has no mark. */
                  encoding?: string;
                  /** @description Sheet of a workbook; the first one without it. */
                  sheet?: string;
                  /** @description Found by the header where it is absent. */
                  delimiter?: string;
                  /**
                   * @description What stands around a cell. `"` where it is absent.
                   * @enum {string}
                   */
                  quote?: '"' | "'" | '';
                  /**
                   * @description How a quote is written in a quoted cell. Found by the first rows where it is absent.
                   * @enum {string}
                   */
                  escape?: '"' | '\\';
                  /** @description Line of the header; 0 for a file without one, whose columns are `column_1`, `column_2`… */
                  headerRow?: 'found' | number;
                  /** @description Rows at the end that are no records: notes, totals. */
                  skipRowsAtEnd?: number;
                  /**
                   * @description Whether the cells that a row lacks at its end are empty. `refuse` where it is absent.
                   * @enum {string}
                   */
                  shortRows?: 'refuse' | 'fill';
                  /** @description Cells that mean: no value. For example `NULL`, `\N`, `n/a`. */
                  nullTexts?: string[];
                };
                /** @description By field of the record: the column it comes from. Fields that are not named come from the column of their name. */
                columns?: {
                  [key: string]:
                    | string
                    | {
                        position: number;
                      }
                    | {
                        constant: string;
                      }
                    | {
                        /** @constant */
                        rowNumber: true;
                      };
                };
                /** @description By field of the record: steps that are applied in order to the value before it is checked and looked up by. `["trim"]` where it is absent. */
                normalise?: {
                  [key: string]: (
                    | 'trim'
                    | 'nfc'
                    | 'unwrap_formula'
                    | 'host_of_url'
                    | 'host_of_email'
                    | 'country_alpha2'
                    | 'postal_code'
                    | 'lower'
                    | 'upper'
                  )[];
                };
                /**
                 * @description Of two records with the same identifier, whether the later one is refused. `allow` where it is absent.
                 * @enum {string}
                 */
                duplicates?: 'allow' | 'reject_later';
                /** @description How CSV results are written. */
                results?: {
                  /** @description CSV results begin with a byte order mark. `false` where it is absent. */
                  bom?: boolean;
                  /** @description CSV results have an apostrophe before what a spreadsheet would calculate. `true` where it is absent. */
                  guard?: boolean;
                };
              };
        };
      };
    };
    responses: {
      /** @description Found */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "uploadId": "up_01KE9Q5XW0V4T3Z8M2N6P7R1SD.Y3VzdG9tZXJzLmNzdg",
           *       "format": "csv",
           *       "delimiter": ";",
           *       "headerLine": 1,
           *       "columns": [
           *         "Customer No.",
           *         "Website",
           *         "Country"
           *       ],
           *       "asGiven": {
           *         "refused": {
           *           "code": "MISSING_REQUIRED_COLUMN",
           *           "detail": "The header on line 1 has no column \"record_id\"; it has \"Customer No.\", \"Website\", \"Country\". …",
           *           "line": 1
           *         }
           *       },
           *       "asProposed": {
           *         "examined": 200,
           *         "valid": 200,
           *         "invalid": 0,
           *         "faults": [],
           *         "warnings": [],
           *         "records": [
           *           {
           *             "recordNo": 1,
           *             "line": 2,
           *             "record": {
           *               "Customer No.": "C-1001",
           *               "Website": "https://www.indigo-works.example/",
           *               "Country": "Germany"
           *             },
           *             "used": {
           *               "record_id": "C-1001",
           *               "domain": "indigo-works.example",
           *               "country": "DE"
           *             }
           *           }
           *         ],
           *         "profile": {
           *           "columns": {
           *             "record_id": "Customer No.",
           *             "domain": "Website"
           *           },
           *           "normalise": {
           *             "domain": [
           *               "trim",
           *               "host_of_url"
           *             ],
           *             "country": [
           *               "trim",
           *               "country_alpha2"
           *             ]
           *           }
           *         }
           *       },
           *       "suggestions": [
           *         {
           *           "detail": "Column \"Customer No.\" holds record_id.",
           *           "profile": {
           *             "columns": {
           *               "record_id": "Customer No."
           *             }
           *           }
           *         }
           *       ],
           *       "questions": [
           *         {
           *           "field": "postal_code",
           *           "detail": "No column is known to hold postal_code. Name one in columns, …"
           *         }
           *       ],
           *       "estimate": {
           *         "records": 200,
           *         "isCounted": true,
           *         "calls": {
           *           "company": 200,
           *           "geo": 0
           *         },
           *         "completionAt": "2026-01-05T09:00:08.000Z"
           *       }
           *     }
           */
          'application/json': components['schemas']['Preview'];
        };
      };
      /** @description `invalid_request`: The request is not valid. `invalid_json`: The body is not the JSON object that was expected. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request' | 'invalid_json';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `body_too_large`: The request body is too large: upload the file instead. `file_too_large`: The file is too large. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'body_too_large' | 'file_too_large';
          };
        };
      };
      /** @description `upload_missing`: Nothing was uploaded under this upload id. `upload_expired`: The upload is too old to be submitted. `profile_missing`: There is no profile of this name. `too_large_to_preview`: The file is too large to be previewed. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'upload_missing' | 'upload_expired' | 'profile_missing' | 'too_large_to_preview';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  listSubmissions: {
    parameters: {
      query?: {
        state?:
          | 'accepted'
          | 'processing'
          | 'finalizing'
          | 'cancelling'
          | 'complete'
          | 'partially_failed'
          | 'failed'
          | 'cancelled'
          | 'rejected'
          | 'expired';
        limit?: number;
        cursor?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Found */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "id": "sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD",
           *           "state": "processing",
           *           "lane": "small",
           *           "reference": "customers of January",
           *           "createdAt": "2026-01-05T09:00:00.000Z",
           *           "updatedAt": "2026-01-05T09:00:04.000Z",
           *           "counts": {
           *             "total": 200,
           *             "pending": 110,
           *             "succeeded": 87,
           *             "failed": 3,
           *             "cancelled": 0
           *           },
           *           "failures": {
           *             "invalid_record": 3
           *           },
           *           "estimatedCompletionAt": "2026-01-05T09:00:08.000Z",
           *           "expiresAt": "2026-02-04T09:00:00.000Z",
           *           "links": {
           *             "self": "https://api.sluice.example/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD",
           *             "records": "https://api.sluice.example/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD/records",
           *             "results": "https://api.sluice.example/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD/results"
           *           }
           *         }
           *       ],
           *       "nextCursor": null
           *     }
           */
          'application/json': components['schemas']['SubmissionPage'];
        };
      };
      /** @description `invalid_request`: The request is not valid. `invalid_cursor`: The cursor is not one that this list gave. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request' | 'invalid_cursor';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  createSubmission: {
    parameters: {
      query?: {
        /** @description Only where the body is the file itself */
        fileName?: string;
        /** @description Only where the body is the file itself */
        expectedRecords?: number;
        /** @description Only where the body is the file itself */
        reference?: string;
        /** @description Only where the body is the file itself */
        callbackUrl?: string;
        /** @description Only where the body is the file itself */
        profile?: string;
      };
      header?: {
        /**
         * @description Repetitions with the same key and request are one request and get the current state of its result.
         * @example customers-2026-01
         */
        'Idempotency-Key'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "uploadId": "up_01KE9Q5XW0V4T3Z8M2N6P7R1SD.Y3VzdG9tZXJzLmNzdg",
         *       "reference": "customers of January",
         *       "expectedRecords": 200
         *     }
         */
        'application/json':
          | {
              /** @description As POST /v1/uploads gave it. */
              uploadId: string;
              /**
               * @description Without it, the ending of the file name tells, and without that the first bytes of the file.
               * @enum {string}
               */
              format?: 'csv' | 'ndjson' | 'json';
              /** @description Records that the customer believes the file has. A small file that has another number is refused. */
              expectedRecords?: number;
              /** @description The customer's own reference; it comes back in every answer. */
              reference?: string;
              /** @description Gets a POST when the submission has ended. */
              callbackUrl?: string;
              /** @description How the file is to be read, and which of its columns are which fields: a profile, or the name of one that is stored, as `name` or `name@version`. */
              profile?:
                | string
                | {
                    /** @description How the file is cut into records. */
                    reading?: {
                      /**
                       * @description As `format` of the submission, which goes before it.
                       * @enum {string}
                       */
                      format?: 'csv' | 'ndjson' | 'json';
                      /** @description Character set of a text that is not UTF-8 and has no mark. */
                      encoding?: string;
                      /** @description Sheet of a workbook; the first one without it. */
                      sheet?: string;
                      /** @description Found by the header where it is absent. */
                      delimiter?: string;
                      /**
                       * @description What stands around a cell. `"` where it is absent.
                       * @enum {string}
                       */
                      quote?: '"' | "'" | '';
                      /**
                       * @description How a quote is written in a quoted cell. Found by the first rows where it is absent.
                       * @enum {string}
                       */
                      escape?: '"' | '\\';
                      /** @description Line of the header; 0 for a file without one, whose columns are `column_1`, `column_2`… */
                      headerRow?: 'found' | number;
                      /** @description Rows at the end that are no records: notes, totals. */
                      skipRowsAtEnd?: number;
                      /**
                       * @description Whether the cells that a row lacks at its end are empty. `refuse` where it is absent.
                       * @enum {string}
                       */
                      shortRows?: 'refuse' | 'fill';
                      /** @description Cells that mean: no value. For example `NULL`, `\N`, `n/a`. */
                      nullTexts?: string[];
                    };
                    /** @description By field of the record: the column it comes from. Fields that are not named come from the column of their name. */
                    columns?: {
                      [key: string]:
                        | string
                        | {
                            position: number;
                          }
                        | {
                            constant: string;
                          }
                        | {
                            /** @constant */
                            rowNumber: true;
                          };
                    };
                    /** @description By field of the record: steps that are applied in order to the value before it is checked and looked up by. `["trim"]` where it is absent. */
                    normalise?: {
                      [key: string]: (
                        | 'trim'
                        | 'nfc'
                        | 'unwrap_formula'
                        | 'host_of_url'
                        | 'host_of_email'
                        | 'country_alpha2'
                        | 'postal_code'
                        | 'lower'
                        | 'upper'
                      )[];
                    };
                    /**
                     * @description Of two records with the same identifier, whether the later one is refused. `allow` where it is absent.
                     * @enum {string}
                     */
                    duplicates?: 'allow' | 'reject_later';
                    /** @description How CSV results are written. */
                    results?: {
                      /** @description CSV results begin with a byte order mark. `false` where it is absent. */
                      bom?: boolean;
                      /** @description CSV results have an apostrophe before what a spreadsheet would calculate. `true` where it is absent. */
                      guard?: boolean;
                    };
                  };
            }
          | {
              [key: string]: unknown;
            }[];
        /**
         * @example record_id,domain
         *     C-1001,indigo-works.example
         */
        'text/csv': string;
        /** @example {"record_id":"C-1001","domain":"indigo-works.example"} */
        'application/x-ndjson': string;
      };
    };
    responses: {
      /** @description Accepted */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          Location: components['headers']['Location'];
          'Idempotency-Replayed': components['headers']['Idempotency-Replayed'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD",
           *       "state": "processing",
           *       "lane": "small",
           *       "reference": "customers of January",
           *       "createdAt": "2026-01-05T09:00:00.000Z",
           *       "updatedAt": "2026-01-05T09:00:04.000Z",
           *       "counts": {
           *         "total": 200,
           *         "pending": 110,
           *         "succeeded": 87,
           *         "failed": 3,
           *         "cancelled": 0
           *       },
           *       "failures": {
           *         "invalid_record": 3
           *       },
           *       "estimatedCompletionAt": "2026-01-05T09:00:08.000Z",
           *       "expiresAt": "2026-02-04T09:00:00.000Z",
           *       "links": {
           *         "self": "https://api.sluice.example/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD",
           *         "records": "https://api.sluice.example/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD/records",
           *         "results": "https://api.sluice.example/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD/results"
           *       }
           *     }
           */
          'application/json': components['schemas']['Submission'];
        };
      };
      /** @description `invalid_request`: The request is not valid. `invalid_json`: The body is not the JSON object that was expected. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request' | 'invalid_json';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `request_in_progress`: A request with this idempotency key is still being processed. */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'request_in_progress';
          };
        };
      };
      /** @description `body_too_large`: The request body is too large: upload the file instead. `file_too_large`: The file is too large. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'body_too_large' | 'file_too_large';
          };
        };
      };
      /** @description `unsupported_media_type`: The content type is not one that this accepts. */
      415: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unsupported_media_type';
          };
        };
      };
      /** @description `upload_missing`: Nothing was uploaded under this upload id. `upload_expired`: The upload is too old to be submitted. `profile_missing`: There is no profile of this name. `too_many_records`: The file has more records than a file may have. `idempotency_key_reused`: The idempotency key was used for another request. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?:
              'upload_missing' | 'upload_expired' | 'profile_missing' | 'too_many_records' | 'idempotency_key_reused';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. `too_many_open_records`: Too many records of this tenant are still open. `too_many_open_submissions`: Too many submissions of this tenant are still open. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests' | 'too_many_open_records' | 'too_many_open_submissions';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. `system_busy`: The system has more work than it can take on. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable' | 'system_busy';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  getSubmission: {
    parameters: {
      query?: {
        wait?: number;
      };
      header?: {
        /**
         * @description The `ETag` of an earlier answer: while nothing has changed, the answer is 304 without a body.
         * @example W/"4NUcoFYPqPb7vYqyTBcIvw"
         */
        'If-None-Match'?: string;
      };
      path: {
        /**
         * @description Submission id
         * @example sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD
         */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Found */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          ETag: components['headers']['ETag'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD",
           *       "state": "processing",
           *       "lane": "small",
           *       "reference": "customers of January",
           *       "createdAt": "2026-01-05T09:00:00.000Z",
           *       "updatedAt": "2026-01-05T09:00:04.000Z",
           *       "counts": {
           *         "total": 200,
           *         "pending": 110,
           *         "succeeded": 87,
           *         "failed": 3,
           *         "cancelled": 0
           *       },
           *       "failures": {
           *         "invalid_record": 3
           *       },
           *       "estimatedCompletionAt": "2026-01-05T09:00:08.000Z",
           *       "expiresAt": "2026-02-04T09:00:00.000Z",
           *       "links": {
           *         "self": "https://api.sluice.example/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD",
           *         "records": "https://api.sluice.example/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD/records",
           *         "results": "https://api.sluice.example/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD/results"
           *       }
           *     }
           */
          'application/json': components['schemas']['Submission'];
        };
      };
      /** @description Unchanged since `If-None-Match` */
      304: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          ETag: components['headers']['ETag'];
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description `invalid_request`: The request is not valid. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `not_found`: There is nothing at this path. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'not_found';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  cancelSubmission: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /**
         * @description Submission id
         * @example sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD
         */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        /** @example {} */
        'application/json': Record<string, never>;
      };
    };
    responses: {
      /** @description Accepted */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD",
           *       "state": "processing",
           *       "lane": "small",
           *       "reference": "customers of January",
           *       "createdAt": "2026-01-05T09:00:00.000Z",
           *       "updatedAt": "2026-01-05T09:00:04.000Z",
           *       "counts": {
           *         "total": 200,
           *         "pending": 110,
           *         "succeeded": 87,
           *         "failed": 3,
           *         "cancelled": 0
           *       },
           *       "failures": {
           *         "invalid_record": 3
           *       },
           *       "estimatedCompletionAt": "2026-01-05T09:00:08.000Z",
           *       "expiresAt": "2026-02-04T09:00:00.000Z",
           *       "links": {
           *         "self": "https://api.sluice.example/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD",
           *         "records": "https://api.sluice.example/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD/records",
           *         "results": "https://api.sluice.example/v1/submissions/sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD/results"
           *       }
           *     }
           */
          'application/json': components['schemas']['Submission'];
        };
      };
      /** @description `invalid_request`: The request is not valid. `invalid_json`: The body is not the JSON object that was expected. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request' | 'invalid_json';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `not_found`: There is nothing at this path. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'not_found';
          };
        };
      };
      /** @description `already_closed`: The submission has already ended. */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'already_closed';
          };
        };
      };
      /** @description `body_too_large`: The request body is too large: upload the file instead. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'body_too_large';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  listRecords: {
    parameters: {
      query?: {
        recordId?: string;
        state?: 'pending' | 'retrying' | 'deferred' | 'succeeded' | 'failed' | 'dead_lettered' | 'cancelled';
        reason?:
          | 'invalid_record'
          | 'malformed_row'
          | 'record_too_large'
          | 'duplicate_record_id'
          | 'provider_rejected'
          | 'provider_unavailable'
          | 'provider_timeout'
          | 'provider_bad_response'
          | 'attempts_exhausted'
          | 'worker_crashed'
          | 'internal_error'
          | 'deadline_passed'
          | 'cancelled'
          | 'provider_throttled'
          | 'provider_not_ready'
          | 'provider_auth'
          | 'provider_removed'
          | 'breaker_open'
          | 'pacer_full'
          | 'dependency_unavailable'
          | 'out_of_time'
          | 'message_lost'
          | 'redriven';
        limit?: number;
        cursor?: string;
      };
      header?: never;
      path: {
        /**
         * @description Submission id
         * @example sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD
         */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Found */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "submissionId": "sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD",
           *           "recordNo": 1,
           *           "state": "succeeded",
           *           "attempts": 1,
           *           "updatedAt": "2026-01-05T09:00:02.000Z",
           *           "line": 2,
           *           "record": {
           *             "Customer No.": "C-1001",
           *             "Website": "https://www.indigo-works.example/"
           *           },
           *           "used": {
           *             "record_id": "C-1001",
           *             "domain": "indigo-works.example"
           *           },
           *           "output": {
           *             "record_id": "C-1001",
           *             "company": {
           *               "domain": "indigo-works.example"
           *             },
           *             "geo": null
           *           }
           *         }
           *       ],
           *       "nextCursor": null
           *     }
           */
          'application/json': components['schemas']['RecordPage'];
        };
      };
      /** @description `invalid_request`: The request is not valid. `invalid_cursor`: The cursor is not one that this list gave. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request' | 'invalid_cursor';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `not_found`: There is nothing at this path. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'not_found';
          };
        };
      };
      /** @description `not_ready`: The submission is still being processed. */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'not_ready';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  getRecord: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /**
         * @description Submission id
         * @example sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD
         */
        id: string;
        /**
         * @description Number of the record in its file, from 1 on
         * @example 18
         */
        recordNo: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Found */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "submissionId": "sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD",
           *       "recordNo": 1,
           *       "state": "succeeded",
           *       "attempts": 1,
           *       "updatedAt": "2026-01-05T09:00:02.000Z",
           *       "line": 2,
           *       "record": {
           *         "Customer No.": "C-1001",
           *         "Website": "https://www.indigo-works.example/"
           *       },
           *       "used": {
           *         "record_id": "C-1001",
           *         "domain": "indigo-works.example"
           *       },
           *       "output": {
           *         "record_id": "C-1001",
           *         "company": {
           *           "domain": "indigo-works.example"
           *         },
           *         "geo": null
           *       }
           *     }
           */
          'application/json': components['schemas']['Record'];
        };
      };
      /** @description `invalid_request`: The request is not valid. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `not_found`: There is nothing at this path. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'not_found';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  getResults: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /**
         * @description Submission id
         * @example sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD
         */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Found */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "version": 1,
           *       "state": "partially_failed",
           *       "files": [
           *         {
           *           "kind": "succeeded",
           *           "format": "ndjson",
           *           "part": 1,
           *           "url": "https://bucket.s3.eu-central-1.amazonaws.com/results/…",
           *           "expiresAt": "2026-01-05T09:20:00.000Z",
           *           "records": 197,
           *           "bytes": 48211,
           *           "sha256": "c0ffee254729296a45a3885639ac7e10f9d54979b1a2c3d4e5f60718293a4b5c"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['Results'];
        };
      };
      /** @description `invalid_request`: The request is not valid. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `not_found`: There is nothing at this path. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'not_found';
          };
        };
      };
      /** @description `not_ready`: The submission is still being processed. `no_results`: The submission has no results. */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'not_ready' | 'no_results';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  listProfiles: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Found */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "name": "crm-export",
           *           "version": 2,
           *           "updatedAt": "2026-01-05T09:00:00.000Z"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['ProfileList'];
        };
      };
      /** @description `invalid_request`: The request is not valid. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  getProfile: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /**
         * @description Name of a profile.
         * @example crm-export
         */
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Found */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "name": "crm-export",
           *       "version": 2,
           *       "createdAt": "2026-01-05T09:00:00.000Z",
           *       "profile": {
           *         "reading": {
           *           "nullTexts": [
           *             "NULL"
           *           ]
           *         },
           *         "columns": {
           *           "record_id": "Customer No.",
           *           "domain": "Website",
           *           "country": {
           *             "constant": "DE"
           *           }
           *         },
           *         "normalise": {
           *           "domain": [
           *             "trim",
           *             "host_of_url"
           *           ]
           *         }
           *       }
           *     }
           */
          'application/json': components['schemas']['StoredProfile'];
        };
      };
      /** @description `invalid_request`: The request is not valid. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `not_found`: There is nothing at this path. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'not_found';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  putProfile: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /**
         * @description Name of a profile.
         * @example crm-export
         */
        name: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        /**
         * @example {
         *       "reading": {
         *         "nullTexts": [
         *           "NULL"
         *         ]
         *       },
         *       "columns": {
         *         "record_id": "Customer No.",
         *         "domain": "Website",
         *         "country": {
         *           "constant": "DE"
         *         }
         *       },
         *       "normalise": {
         *         "domain": [
         *           "trim",
         *           "host_of_url"
         *         ]
         *       }
         *     }
         */
        'application/json': {
          /** @description How the file is cut into records. */
          reading?: {
            /**
             * @description As `format` of the submission, which goes before it.
             * @enum {string}
             */
            format?: 'csv' | 'ndjson' | 'json';
            /** @description Character set of a text that is not UTF-8 and has no mark. */
            encoding?: string;
            /** @description Sheet of a workbook; the first one without it. */
            sheet?: string;
            /** @description Found by the header where it is absent. */
            delimiter?: string;
            /**
             * @description What stands around a cell. `"` where it is absent.
             * @enum {string}
             */
            quote?: '"' | "'" | '';
            /**
             * @description How a quote is written in a quoted cell. Found by the first rows where it is absent.
             * @enum {string}
             */
            escape?: '"' | '\\';
            /** @description Line of the header; 0 for a file without one, whose columns are `column_1`, `column_2`… */
            headerRow?: 'found' | number;
            /** @description Rows at the end that are no records: notes, totals. */
            skipRowsAtEnd?: number;
            /**
             * @description Whether the cells that a row lacks at its end are empty. `refuse` where it is absent.
             * @enum {string}
             */
            shortRows?: 'refuse' | 'fill';
            /** @description Cells that mean: no value. For example `NULL`, `\N`, `n/a`. */
            nullTexts?: string[];
          };
          /** @description By field of the record: the column it comes from. Fields that are not named come from the column of their name. */
          columns?: {
            [key: string]:
              | string
              | {
                  position: number;
                }
              | {
                  constant: string;
                }
              | {
                  /** @constant */
                  rowNumber: true;
                };
          };
          /** @description By field of the record: steps that are applied in order to the value before it is checked and looked up by. `["trim"]` where it is absent. */
          normalise?: {
            [key: string]: (
              | 'trim'
              | 'nfc'
              | 'unwrap_formula'
              | 'host_of_url'
              | 'host_of_email'
              | 'country_alpha2'
              | 'postal_code'
              | 'lower'
              | 'upper'
            )[];
          };
          /**
           * @description Of two records with the same identifier, whether the later one is refused. `allow` where it is absent.
           * @enum {string}
           */
          duplicates?: 'allow' | 'reject_later';
          /** @description How CSV results are written. */
          results?: {
            /** @description CSV results begin with a byte order mark. `false` where it is absent. */
            bom?: boolean;
            /** @description CSV results have an apostrophe before what a spreadsheet would calculate. `true` where it is absent. */
            guard?: boolean;
          };
        };
      };
    };
    responses: {
      /** @description Found */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "name": "crm-export",
           *       "version": 2,
           *       "createdAt": "2026-01-05T09:00:00.000Z",
           *       "profile": {
           *         "reading": {
           *           "nullTexts": [
           *             "NULL"
           *           ]
           *         },
           *         "columns": {
           *           "record_id": "Customer No.",
           *           "domain": "Website",
           *           "country": {
           *             "constant": "DE"
           *           }
           *         },
           *         "normalise": {
           *           "domain": [
           *             "trim",
           *             "host_of_url"
           *           ]
           *         }
           *       }
           *     }
           */
          'application/json': components['schemas']['StoredProfile'];
        };
      };
      /** @description `invalid_request`: The request is not valid. `invalid_json`: The body is not the JSON object that was expected. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request' | 'invalid_json';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `body_too_large`: The request body is too large: upload the file instead. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'body_too_large';
          };
        };
      };
      /** @description `too_many_profiles`: The tenant has as many profiles as it may have. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_profiles';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  deleteProfile: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /**
         * @description Name of a profile.
         * @example crm-export
         */
        name: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Found */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "name": "crm-export",
           *       "version": 2,
           *       "createdAt": "2026-01-05T09:00:00.000Z",
           *       "profile": {
           *         "reading": {
           *           "nullTexts": [
           *             "NULL"
           *           ]
           *         },
           *         "columns": {
           *           "record_id": "Customer No.",
           *           "domain": "Website",
           *           "country": {
           *             "constant": "DE"
           *           }
           *         },
           *         "normalise": {
           *           "domain": [
           *             "trim",
           *             "host_of_url"
           *           ]
           *         }
           *       }
           *     }
           */
          'application/json': components['schemas']['StoredProfile'];
        };
      };
      /** @description `invalid_request`: The request is not valid. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `not_found`: There is nothing at this path. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'not_found';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  listWebhooks: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Found */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "id": "we_01KE9Q5XW0V4T3Z8M2N6P7R1SE",
           *           "url": "https://hooks.example.com/sluice",
           *           "events": [
           *             "submission.completed"
           *           ],
           *           "description": "CRM",
           *           "enabled": true,
           *           "createdAt": "2026-01-05T09:00:00.000Z",
           *           "updatedAt": "2026-01-05T09:00:00.000Z"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['WebhookList'];
        };
      };
      /** @description `invalid_request`: The request is not valid. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  createWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: {
      content: {
        /**
         * @example {
         *       "url": "https://hooks.example.com/sluice",
         *       "events": [
         *         "submission.completed"
         *       ],
         *       "description": "CRM"
         *     }
         */
        'application/json': {
          /** @description Where events are sent: https on a public host. */
          url: string;
          /** @description Types of the events that it is sent. Without any: all, those that may be added later among them. */
          events?: (
            | 'submission.completed'
            | 'submission.partially_failed'
            | 'submission.failed'
            | 'submission.rejected'
            | 'submission.cancelled'
            | 'submission.expired'
          )[];
          description?: string;
        };
      };
    };
    responses: {
      /** @description Created */
      201: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "we_01KE9Q5XW0V4T3Z8M2N6P7R1SE",
           *       "url": "https://hooks.example.com/sluice",
           *       "events": [
           *         "submission.completed"
           *       ],
           *       "description": "CRM",
           *       "enabled": true,
           *       "createdAt": "2026-01-05T09:00:00.000Z",
           *       "updatedAt": "2026-01-05T09:00:00.000Z",
           *       "secret": "whsec_YSBzZWNyZXQgb2YgdGhpcnR5LXR3byBieXRlcyAuLi4="
           *     }
           */
          'application/json': components['schemas']['NewWebhook'];
        };
      };
      /** @description `invalid_request`: The request is not valid. `invalid_json`: The body is not the JSON object that was expected. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request' | 'invalid_json';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `body_too_large`: The request body is too large: upload the file instead. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'body_too_large';
          };
        };
      };
      /** @description `too_many_webhooks`: The tenant has as many webhooks as it may have. */
      422: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_webhooks';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  getWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /**
         * @description Webhook id; for its secret also `callback`, the URLs that submissions name.
         * @example we_01KE9Q5XW0V4T3Z8M2N6P7R1SD
         */
        webhookId: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Found */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "we_01KE9Q5XW0V4T3Z8M2N6P7R1SE",
           *       "url": "https://hooks.example.com/sluice",
           *       "events": [
           *         "submission.completed"
           *       ],
           *       "description": "CRM",
           *       "enabled": true,
           *       "createdAt": "2026-01-05T09:00:00.000Z",
           *       "updatedAt": "2026-01-05T09:00:00.000Z"
           *     }
           */
          'application/json': components['schemas']['Webhook'];
        };
      };
      /** @description `invalid_request`: The request is not valid. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `not_found`: There is nothing at this path. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'not_found';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  putWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /**
         * @description Webhook id; for its secret also `callback`, the URLs that submissions name.
         * @example we_01KE9Q5XW0V4T3Z8M2N6P7R1SD
         */
        webhookId: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        /**
         * @example {
         *       "url": "https://hooks.example.com/sluice",
         *       "enabled": true
         *     }
         */
        'application/json': {
          /** @description Where events are sent: https on a public host. */
          url: string;
          /** @description Types of the events that it is sent. Without any: all, those that may be added later among them. */
          events?: (
            | 'submission.completed'
            | 'submission.partially_failed'
            | 'submission.failed'
            | 'submission.rejected'
            | 'submission.cancelled'
            | 'submission.expired'
          )[];
          description?: string;
          /**
           * @description False: nothing is sent.
           * @default true
           */
          enabled?: boolean;
        };
      };
    };
    responses: {
      /** @description Found */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "we_01KE9Q5XW0V4T3Z8M2N6P7R1SE",
           *       "url": "https://hooks.example.com/sluice",
           *       "events": [
           *         "submission.completed"
           *       ],
           *       "description": "CRM",
           *       "enabled": true,
           *       "createdAt": "2026-01-05T09:00:00.000Z",
           *       "updatedAt": "2026-01-05T09:00:00.000Z"
           *     }
           */
          'application/json': components['schemas']['Webhook'];
        };
      };
      /** @description `invalid_request`: The request is not valid. `invalid_json`: The body is not the JSON object that was expected. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request' | 'invalid_json';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `not_found`: There is nothing at this path. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'not_found';
          };
        };
      };
      /** @description `body_too_large`: The request body is too large: upload the file instead. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'body_too_large';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  deleteWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /**
         * @description Webhook id; for its secret also `callback`, the URLs that submissions name.
         * @example we_01KE9Q5XW0V4T3Z8M2N6P7R1SD
         */
        webhookId: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Found */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "we_01KE9Q5XW0V4T3Z8M2N6P7R1SE",
           *       "url": "https://hooks.example.com/sluice",
           *       "events": [
           *         "submission.completed"
           *       ],
           *       "description": "CRM",
           *       "enabled": true,
           *       "createdAt": "2026-01-05T09:00:00.000Z",
           *       "updatedAt": "2026-01-05T09:00:00.000Z"
           *     }
           */
          'application/json': components['schemas']['Webhook'];
        };
      };
      /** @description `invalid_request`: The request is not valid. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `not_found`: There is nothing at this path. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'not_found';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  rotateWebhookSecret: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /**
         * @description Webhook id; for its secret also `callback`, the URLs that submissions name.
         * @example we_01KE9Q5XW0V4T3Z8M2N6P7R1SD
         */
        webhookId: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        /**
         * @example {
         *       "overlapHours": 24
         *     }
         */
        'application/json': {
          /**
           * @description Hours for which the secret before signs as well.
           * @default 24
           */
          overlapHours?: number;
        };
      };
    };
    responses: {
      /** @description Found */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "secret": "whsec_YSBzZWNyZXQgb2YgdGhpcnR5LXR3byBieXRlcyAuLi4=",
           *       "previousUntil": "2026-01-06T09:00:00.000Z"
           *     }
           */
          'application/json': components['schemas']['WebhookSecret'];
        };
      };
      /** @description `invalid_request`: The request is not valid. `invalid_json`: The body is not the JSON object that was expected. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request' | 'invalid_json';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `not_found`: There is nothing at this path. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'not_found';
          };
        };
      };
      /** @description `body_too_large`: The request body is too large: upload the file instead. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'body_too_large';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  testWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /**
         * @description Webhook id; for its secret also `callback`, the URLs that submissions name.
         * @example we_01KE9Q5XW0V4T3Z8M2N6P7R1SD
         */
        webhookId: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        /** @example {} */
        'application/json': Record<string, never>;
      };
    };
    responses: {
      /** @description Accepted */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "dlv_01KE9Q5XW0V4T3Z8M2N6P7R1SD_0_01KE9Q5XW0V4T3Z8M2N6P7R1SE",
           *       "webhookId": "we_01KE9Q5XW0V4T3Z8M2N6P7R1SE",
           *       "eventId": "evt_01KE9Q5XW0V4T3Z8M2N6P7R1SD_0",
           *       "type": "submission.completed",
           *       "submissionId": "sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD",
           *       "state": "pending",
           *       "attempts": 1,
           *       "lastAttempt": {
           *         "at": "2026-01-05T09:00:09.000Z",
           *         "durationMs": 212,
           *         "status": 503,
           *         "excerpt": "Down for maintenance"
           *       },
           *       "nextAttemptAt": "2026-01-05T09:00:14.000Z",
           *       "createdAt": "2026-01-05T09:00:09.000Z",
           *       "updatedAt": "2026-01-05T09:00:09.000Z"
           *     }
           */
          'application/json': components['schemas']['WebhookDelivery'];
        };
      };
      /** @description `invalid_request`: The request is not valid. `invalid_json`: The body is not the JSON object that was expected. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request' | 'invalid_json';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `not_found`: There is nothing at this path. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'not_found';
          };
        };
      };
      /** @description `webhook_disabled`: The webhook is disabled. */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'webhook_disabled';
          };
        };
      };
      /** @description `body_too_large`: The request body is too large: upload the file instead. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'body_too_large';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  listDeliveries: {
    parameters: {
      query?: {
        webhookId?: string;
        submissionId?: string;
        state?: 'pending' | 'delivered' | 'given_up' | 'disabled';
        limit?: number;
        cursor?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Found */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "items": [
           *         {
           *           "id": "dlv_01KE9Q5XW0V4T3Z8M2N6P7R1SD_0_01KE9Q5XW0V4T3Z8M2N6P7R1SE",
           *           "webhookId": "we_01KE9Q5XW0V4T3Z8M2N6P7R1SE",
           *           "eventId": "evt_01KE9Q5XW0V4T3Z8M2N6P7R1SD_0",
           *           "type": "submission.completed",
           *           "submissionId": "sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD",
           *           "state": "pending",
           *           "attempts": 1,
           *           "lastAttempt": {
           *             "at": "2026-01-05T09:00:09.000Z",
           *             "durationMs": 212,
           *             "status": 503,
           *             "excerpt": "Down for maintenance"
           *           },
           *           "nextAttemptAt": "2026-01-05T09:00:14.000Z",
           *           "createdAt": "2026-01-05T09:00:09.000Z",
           *           "updatedAt": "2026-01-05T09:00:09.000Z"
           *         }
           *       ],
           *       "nextCursor": null
           *     }
           */
          'application/json': components['schemas']['WebhookDeliveryPage'];
        };
      };
      /** @description `invalid_request`: The request is not valid. `invalid_cursor`: The cursor is not one that this list gave. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request' | 'invalid_cursor';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  getDelivery: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /**
         * @description Delivery id
         * @example dlv_01KE9Q5XW0V4T3Z8M2N6P7R1SD_0_01KE9Q5XW0V4T3Z8M2N6P7R1SE
         */
        deliveryId: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Found */
      200: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "dlv_01KE9Q5XW0V4T3Z8M2N6P7R1SD_0_01KE9Q5XW0V4T3Z8M2N6P7R1SE",
           *       "webhookId": "we_01KE9Q5XW0V4T3Z8M2N6P7R1SE",
           *       "eventId": "evt_01KE9Q5XW0V4T3Z8M2N6P7R1SD_0",
           *       "type": "submission.completed",
           *       "submissionId": "sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD",
           *       "state": "pending",
           *       "attempts": 1,
           *       "lastAttempt": {
           *         "at": "2026-01-05T09:00:09.000Z",
           *         "durationMs": 212,
           *         "status": 503,
           *         "excerpt": "Down for maintenance"
           *       },
           *       "nextAttemptAt": "2026-01-05T09:00:14.000Z",
           *       "createdAt": "2026-01-05T09:00:09.000Z",
           *       "updatedAt": "2026-01-05T09:00:09.000Z"
           *     }
           */
          'application/json': components['schemas']['WebhookDelivery'];
        };
      };
      /** @description `invalid_request`: The request is not valid. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `not_found`: There is nothing at this path. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'not_found';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  resendDelivery: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /**
         * @description Delivery id
         * @example dlv_01KE9Q5XW0V4T3Z8M2N6P7R1SD_0_01KE9Q5XW0V4T3Z8M2N6P7R1SE
         */
        deliveryId: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        /** @example {} */
        'application/json': Record<string, never>;
      };
    };
    responses: {
      /** @description Accepted */
      202: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          /**
           * @example {
           *       "id": "dlv_01KE9Q5XW0V4T3Z8M2N6P7R1SD_0_01KE9Q5XW0V4T3Z8M2N6P7R1SE",
           *       "webhookId": "we_01KE9Q5XW0V4T3Z8M2N6P7R1SE",
           *       "eventId": "evt_01KE9Q5XW0V4T3Z8M2N6P7R1SD_0",
           *       "type": "submission.completed",
           *       "submissionId": "sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD",
           *       "state": "pending",
           *       "attempts": 1,
           *       "lastAttempt": {
           *         "at": "2026-01-05T09:00:09.000Z",
           *         "durationMs": 212,
           *         "status": 503,
           *         "excerpt": "Down for maintenance"
           *       },
           *       "nextAttemptAt": "2026-01-05T09:00:14.000Z",
           *       "createdAt": "2026-01-05T09:00:09.000Z",
           *       "updatedAt": "2026-01-05T09:00:09.000Z"
           *     }
           */
          'application/json': components['schemas']['WebhookDelivery'];
        };
      };
      /** @description `invalid_request`: The request is not valid. `invalid_json`: The body is not the JSON object that was expected. */
      400: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'invalid_request' | 'invalid_json';
          };
        };
      };
      /** @description `unauthorized`: A valid API key is required. */
      401: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'WWW-Authenticate': components['headers']['WWW-Authenticate'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unauthorized';
          };
        };
      };
      /** @description `missing_scope`: The API key lacks the scope for this. */
      403: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'missing_scope';
          };
        };
      };
      /** @description `not_found`: There is nothing at this path. */
      404: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'not_found';
          };
        };
      };
      /** @description `webhook_disabled`: The webhook is disabled. */
      409: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'webhook_disabled';
          };
        };
      };
      /** @description `body_too_large`: The request body is too large: upload the file instead. */
      413: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'body_too_large';
          };
        };
      };
      /** @description `too_many_requests`: Too many requests at once. */
      429: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'too_many_requests';
          };
        };
      };
      /** @description `internal_error`: The request could not be processed. */
      500: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'internal_error';
          };
        };
      };
      /** @description `unavailable`: A part of the system does not answer at the moment. */
      503: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'unavailable';
          };
        };
      };
      /** @description `timed_out`: The request took too long. */
      504: {
        headers: {
          'X-Request-Id': components['headers']['X-Request-Id'];
          'Retry-After': components['headers']['Retry-After'];
          [name: string]: unknown;
        };
        content: {
          'application/problem+json': components['schemas']['Problem'] & {
            /** @enum {string} */
            code?: 'timed_out';
          };
        };
      };
    };
  };
  submissionEnded: {
    parameters: {
      query?: never;
      header: {
        /** @description Id of the event, the same for all attempts. */
        'webhook-id': string;
        /** @description When this attempt was made, in seconds since 1970. */
        'webhook-timestamp': string;
        /** @description One or more signatures: `v1,` and the base64 of an HMAC-SHA256. */
        'webhook-signature': string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        /**
         * @example {
         *       "type": "submission.completed",
         *       "timestamp": "2026-01-05T09:00:09.000Z",
         *       "data": {
         *         "submissionId": "sub_01KE9Q5XW0V4T3Z8M2N6P7R1SD",
         *         "state": "complete",
         *         "counts": {
         *           "total": 200,
         *           "pending": 0,
         *           "succeeded": 200,
         *           "failed": 0,
         *           "cancelled": 0
         *         },
         *         "reference": "customers of January",
         *         "resultsVersion": 1
         *       }
         *     }
         */
        'application/json': {
          type: string;
          /** Format: date-time */
          timestamp: string;
          data: {
            submissionId?: string;
            state?: string;
            counts?: {
              total: number | null;
              pending: number;
              succeeded: number;
              failed: number;
              cancelled: number;
            } | null;
            reference?: string;
            resultsVersion?: number;
            rejection?: {
              code: string;
              detail: string;
            };
          };
        };
      };
    };
    responses: {
      /** @description Gone: the webhook is disabled */
      410: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Taken */
      '2XX': {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Sent again later */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
}
