package record

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	network Kind = "Network"
	router  Kind = "Router"
)

func newRecord() *Record {
	return New(Keys{Intents: "ours.intents", Owners: "ours.owners", UncertainCreates: "ours.uncertain"})
}

func isOurs(key string) bool { return strings.HasPrefix(key, "ours.") }

func TestRecord_RoundTrip(t *testing.T) {
	at := time.Date(2026, 11, 27, 5, 30, 0, 0, time.UTC)
	before := newRecord()
	before.RecordResource(network, "n", Own)
	before.RecordIntent(router, "shoot--a")
	before.MarkUncertain(router, at)
	before.SetFact("ours.project", "p")

	stored := before.Encode()
	assert.Equal(t, map[string]string{
		"Network": "n", "ours.project": "p", "ours.owners": `{"Network":"own"}`, "ours.intents": `{"Router":"shoot--a"}`,
		"ours.uncertain": `{"Router":"2026-11-27T05:30:00Z"}`,
	}, stored)
	raw, err := json.Marshal(stored)
	require.NoError(t, err)
	var decoded map[string]string
	require.NoError(t, json.Unmarshal(raw, &decoded))

	after := newRecord()
	require.NoError(t, after.Decode(decoded))
	assert.Equal(t, stored, after.Encode())
	assert.Equal(t, "n", after.ID(network))
	assert.Equal(t, Own, after.Owner(network))
	assert.Equal(t, "shoot--a", after.Intent(router))
	assert.Equal(t, []Kind{router}, after.Intended())
	since, uncertain := after.UncertainSince(router)
	assert.True(t, uncertain)
	assert.Equal(t, at, since)
}

func TestDecode(t *testing.T) {
	for name, test := range map[string]struct {
		stored map[string]string
		want   string
	}{
		"a map of IDs":           {stored: map[string]string{"Network": "n"}},
		"null is an empty map":   {stored: map[string]string{"ours.owners": "null", "ours.intents": "null"}},
		"an error names its key": {stored: map[string]string{"ours.intents": "7"}, want: "data[ours.intents]"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecord()
			err := r.Decode(test.stored)
			if test.want != "" {
				require.ErrorContains(t, err, test.want)
				return
			}
			require.NoError(t, err)
			r.RecordIntent(router, "x") // the maps can be written
			r.RecordResource(router, "r", Own)
			assert.Equal(t, "r", r.ID(router))
		})
	}
}

func TestRecordResource(t *testing.T) {
	r := newRecord()
	r.RecordResource(network, "n", Given)
	r.RecordResource(network, "n", Own)
	assert.Equal(t, Given, r.Owner(network), "a given resource does not become the shoot's own")
	r.RecordResource(network, "m", Own)
	assert.Equal(t, Own, r.Owner(network), "another resource does")
	r.RecordIntent(network, "x")
	assert.True(t, r.MayHaveMore(network))
	r.RecordResource(network, "m", Own)
	assert.False(t, r.MayHaveMore(network))
}

func TestForget(t *testing.T) {
	r := newRecord()
	r.RecordResource(network, "n", Own)
	r.SetFact("NetworkName", "shoot--a")
	r.Forget(network, "NetworkName")
	assert.True(t, r.Empty())
	assert.Empty(t, r.Encode())
}

func TestOnlyData(t *testing.T) {
	r := newRecord()
	assert.False(t, r.OnlyData(isOurs), "an empty record has no author")
	r.SetFact("Network", "n")
	assert.True(t, r.OnlyData(isOurs))
	r.SetFact("ours.project", "p")
	assert.False(t, r.OnlyData(isOurs))
	r.SetFact("ours.project", "")
	r.RecordIntent(router, "x")
	assert.False(t, r.OnlyData(isOurs))
}

func TestUncertainSince_Unreadable(t *testing.T) {
	r := newRecord()
	require.NoError(t, r.Decode(map[string]string{"ours.uncertain": `{"Network":"once"}`}))
	since, uncertain := r.UncertainSince(network)
	assert.True(t, uncertain)
	assert.True(t, since.IsZero())
	r.ClearUncertain(network)
	assert.False(t, r.IsUncertain(network))
}
