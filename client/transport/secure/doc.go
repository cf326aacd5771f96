// Package secure puts TLS on top of any transport engine: an [Engine] is one whose
// connections are another engine's, with crypto/tls in between. So TLS runs on
// io_uring and on the poll engine alike, and neither knows of it.
//
// No goroutine is added. What has come is decrypted by whoever drives the inner
// engine, within its call of the Handler, and what is sent is encrypted by the
// caller that waits for its reply.
//
// What differs from a plain connection:
//
//   - A loan is over when Send returns: encrypting copies.
//   - Retract takes back only what is not encrypted yet, since an encrypted record
//     has its place in a sequence. That is what no caller has waited for, so
//     requests that a stalled server leaves in the queue can't be taken back.
//   - A landing is never the kernel's: nothing but a call of the Handler's driver
//     writes to its memory.
//   - Engine.Close takes leave of the servers (close_notify). Conn.Close does not: it
//     interrupts the connection at once, as the seam has it, and the queue with it.
//   - Renegotiation, which only TLS 1.2 has, is refused.
//
// Counters are the inner engine's: its bytes are encrypted ones.
package secure
