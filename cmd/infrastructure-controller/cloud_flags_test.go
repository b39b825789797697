package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFullCheckFlags(t *testing.T) {
	for text, want := range map[string]time.Duration{"0": 0, "0s": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute} {
		checks := newFullCheckFlags()
		assert.Equal(t, 10*time.Minute, checks.interval)
		require.NoError(t, checks.flags().Flags[0].Set(text), text)
		assert.Equal(t, want, checks.interval, text)
	}
	for _, text := range []string{"", "10", "-1s", "often"} {
		checks := newFullCheckFlags()
		require.EqualError(t, checks.flags().Flags[0].Set(text), "must be a duration, not negative", text)
		assert.Equal(t, defaultFullCheckInterval, checks.interval, text)
	}
}
