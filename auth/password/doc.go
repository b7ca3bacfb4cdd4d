// Package password keeps, checks and judges passwords.
//
// # What is stored
//
// New hashes are Argon2id (RFC 9106) in PHC form at the costs of OWASP's password storage cheat sheet: 19 MiB, two
// passes, one lane. Hashes of other systems are checked as they came, and replaced when their owners sign in:
//
//	$2a$, $2b$, $2y$            bcrypt, up to cost 15
//	$argon2id$, $argon2i$       of other costs, up to 256 MiB
//	$fbscrypt$v=1,n=…,r=…,p=…,ss=…,sk=…$salt$hash
//	                            Firebase's variant of scrypt, as Supabase stores it, up to 256 MiB
//	$pbkdf2-sha256$i=600000$salt$key
//	                            PBKDF2 with sha1, sha256 or sha512, up to five million iterations; salt and key are
//	                            base64. Django's pbkdf2_sha256$N$salt$key becomes $pbkdf2-sha256$i=N$base64(salt)$key.
//
// What asks for more is refused where it comes in, and not computed where it is there.
//
// # Unicode
//
// A password is hashed in Unicode's NFKC, whole, whatever its length. Other systems hashed what was typed: a password is
// tried as it was typed first, and in NFKC where that differs.
//
// # Speed
//
// A sign-in is its hash and little else, so what could make that faster without weaker parameters was measured.
//
// On two processors of their own: a second lane gains nothing (23.9 ms to 23.4) once as many people sign in as there are
// processors. The gate admits one hash for each processor, which keeps the full rate of the bare library (15.1 ms a hash
// to 15.5 with all processors at it) and leaves memory at so many times 19 MiB. A server hashes in a process that gives
// way to its reads: see package worker.
//
// On processors with other work, the ways taken in turn, processor time of the fastest quarter of 60 hashes:
//
//	golang.org/x/crypto as it is                       25.1 ms
//	two lanes instead of one                           27.2 ms
//	GOGC=400                                           29.6 ms
//	its memory kept and used again                     26.1 ms
//	its memory kept, in huge pages                     22.6 ms
//
// So the library is used as it is. To use memory again gains nothing by itself: clearing it takes what new pages take.
// Huge pages would gain a tenth, but the library takes its memory from Go's heap and offers no other way, and a
// cryptographic primitive is not copied for a tenth. Rarer collections cost more than they save, as each hash then meets
// new pages. Two lanes are less time only while another processor has nothing to do; an attacker, whose processors always
// have, is asked for half the memory × time at the same settings.
package password
