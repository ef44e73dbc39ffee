/** What the list of failed records has behind the columns of the file. */
export const FAILURE_COLUMNS = ['reason', 'message', 'detail', 'record_no', 'line', 'raw'] as const;
