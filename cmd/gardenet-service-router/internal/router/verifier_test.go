package router

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVerifier(t *testing.T) {
	const gone, changed, unverified = "the table is gone", "something else has changed them", "they could not be verified for a long time"
	first := time.Date(2026, time.November, 29, 0, 0, 0, 0, time.UTC)
	second := first.Add(time.Hour)
	// look is what one verification sees.
	type look struct {
		// before and after are when the proxier had last made rules, before and after the look at the kernel.
		before, after time.Time
		table         string
		later         time.Duration
		want          string
	}
	same := func(table, want string) look { return look{first, first, table, time.Second, want} }
	for sentence, looks := range map[string][]look{
		"no rules yet":                       {{time.Time{}, time.Time{}, "", 0, ""}},
		"the same rules":                     {same("a", ""), same("a", ""), same("a", "")},
		"other rules":                        {same("a", ""), same("b", changed)},
		"other rules, which are made anew":   {same("a", ""), same("b", changed), {second, second, "a", 0, ""}, {second, second, "a", 0, ""}},
		"no table":                           {same("a", ""), same("", gone)},
		"no table from the start":            {same("", gone)},
		"the proxier has made others":        {same("a", ""), {second, second, "b", 0, ""}, {second, second, "b", 0, ""}, {second, second, "c", 0, changed}},
		"the proxier makes others meanwhile": {same("a", ""), {first, second, "b", 0, ""}, {second, second, "b", 0, ""}, {second, second, "c", 0, changed}},
		"the proxier makes others all the time": {
			{first, first, "a", 0, ""}, {second, second, "b", 9 * time.Minute, ""}, {first, first, "c", 2 * time.Minute, unverified}, {second, second, "d", time.Minute, ""},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var current look
			now, asked := first, 0
			v := &verifier{
				lastSync: func() time.Time {
					asked++
					if asked == 1 {
						return current.before
					}
					return current.after
				},
				fingerprint: func(context.Context) (string, error) { return current.table, nil },
			}
			for i, each := range looks {
				current, asked = each, 0
				now = now.Add(each.later)
				reason, err := v.verify(t.Context(), now)
				require.NoError(t, err)
				assert.Equal(t, each.want, reason, "look %d", i)
			}
		})
	}
}

func TestVerifier_Error(t *testing.T) {
	v := &verifier{
		lastSync:    func() time.Time { return time.Unix(1, 0) },
		fingerprint: func(context.Context) (string, error) { return "", assert.AnError },
	}
	reason, err := v.verify(t.Context(), time.Unix(2, 0))
	assert.ErrorIs(t, err, assert.AnError)
	assert.Empty(t, reason)
}
