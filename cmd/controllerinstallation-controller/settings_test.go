package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
)

func environmentWith(seed string) func(string) string {
	return func(variable string) string { return map[string]string{"SEED_NAME": seed}[variable] }
}

func set(t *testing.T, s *settings, flag, value string) error {
	t.Helper()
	for _, f := range s.flags().Flags {
		if f.Name == flag {
			return f.Set(value)
		}
	}
	require.FailNow(t, "no such flag", flag)
	return nil
}

func TestSettings(t *testing.T) {
	s := newSettings(environmentWith("eu-1"))
	assert.Equal(t, "eu-1", s.SeedName, "gardenlet says where an extension runs")
	require.NoError(t, set(t, s, "seed-name", ""))
	assert.Empty(t, s.SeedName, "but it may be told to serve many")
	require.NoError(t, set(t, s, "seed-selector", "stage in (canary),!legacy"))
	assert.True(t, s.SeedSelector.Matches(labels.Set{"stage": "canary"}))
	assert.False(t, s.SeedSelector.Matches(labels.Set{"stage": "canary", "legacy": ""}))
	require.NoError(t, set(t, s, "sync-period", "1m"))
	assert.Equal(t, time.Minute, s.SyncPeriod)
	require.NoError(t, set(t, s, "max-concurrent-reconciles", "3"))
	assert.Equal(t, 3, s.MaxConcurrentReconciles)
	require.NoError(t, set(t, s, "garden-address", "https://api.garden.example.org"))

	garden, err := gardenForSeeds(&rest.Config{Host: "https://10.0.0.1", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("ca")}}, s.gardenAddress)
	require.NoError(t, err)
	assert.Equal(t, "https://api.garden.example.org", garden.Address)
	assert.Equal(t, []byte("ca"), garden.CABundle)
}

func TestSettings_Invalid(t *testing.T) {
	for sentence, tt := range map[string]struct{ flag, value, wantText string }{
		"a seed that cannot be one":            {"seed-name", "Eu/1", "must be the name of a Seed"},
		"a selector with an unknown operator":  {"seed-selector", "a=>b", "must be a label selector"},
		"a garden without encryption":          {"garden-address", "http://garden", "must be a URL with https"},
		"a garden without a scheme":            {"garden-address", "garden.example.org", "must be a URL with https"},
		"a period that is none":                {"sync-period", "often", "must be a duration"},
		"a period that would be a storm":       {"sync-period", "10ms", "is too short"},
		"nobody works":                         {"max-concurrent-reconciles", "0", "is too small"},
		"a number that is none of workers":     {"max-concurrent-reconciles", "many", "must be a number"},
		"a list of names instead of one, also": {"seed-name", "a,b", "must be the name of a Seed"},
	} {
		t.Run(sentence, func(t *testing.T) {
			assert.EqualError(t, set(t, newSettings(environmentWith("")), tt.flag, tt.value), tt.wantText)
		})
	}
}
