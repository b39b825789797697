package router

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// maxUnverified is how long rules may stay unverified because the proxier changes them all the time.
const maxUnverified = 10 * time.Minute

// verifier notices that something else has changed the rules of a family. The proxier itself looks at them once an hour.
type verifier struct {
	family corev1.IPFamily
	// lastSync returns when the proxier has made rules, fingerprint what is in the kernel, which is empty without a table.
	lastSync    func() time.Time
	fingerprint func(ctx context.Context) (string, error)

	// sync and seen are those of the last time, verified when nothing else had changed the rules.
	sync, verified time.Time
	seen           string
}

func (r *Router) newVerifiers() []*verifier {
	var all []*verifier
	for _, family := range r.options.families() {
		all = append(all, &verifier{
			family:      family,
			lastSync:    func() time.Time { return r.lastSync(family) },
			fingerprint: func(ctx context.Context) (string, error) { return r.tables.fingerprint(ctx, family) },
		})
	}
	return all
}

// verify returns why all rules have to be made anew. It is empty if they are as the proxier has made them, as far as that can be told: rules are compared with
// those of the last time if the proxier has not made others since.
func (v *verifier) verify(ctx context.Context, now time.Time) (reason string, err error) {
	before := v.lastSync()
	if before.IsZero() {
		return "", nil
	}
	if v.verified.IsZero() {
		v.verified = now
	}
	seen, err := v.fingerprint(ctx)
	if err != nil {
		return "", err
	}
	sync, known := v.sync, v.seen
	switch after := v.lastSync(); {
	case seen == "":
		reason = "the table is gone"
	case !after.Equal(before):
		v.sync = time.Time{} // the proxier was at work
	default:
		v.sync, v.seen = after, seen
	}
	switch {
	case reason != "":
	case v.sync.IsZero() || !sync.Equal(v.sync):
		if now.Sub(v.verified) > maxUnverified {
			reason = "they could not be verified for a long time"
		}
	case known != seen:
		reason = "something else has changed them"
	default:
		v.verified = now
	}
	if reason != "" {
		v.sync, v.verified = time.Time{}, now
	}
	return reason, nil
}
