/** Ids that clients may give: they go into headers and log lines. */
export const idPattern = /^[A-Za-z0-9._:-]{1,128}$/;

/** The same in words. */
export const idRule = '1 … 128 of A–Z a–z 0–9 . _ : -';
