// Package corpus holds tests only: they replay recorded ARM traffic through the
// real client and the real poll activity, and print scores.
//
//	go test ./arm/... -run Corpus -v
//
// ARM_CORPUS names another folder with the files errors.jsonl.gz and
// lro.jsonl.gz. It is separate from package arm because it joins layers that
// must not know each other; nothing may import it.
package corpus
