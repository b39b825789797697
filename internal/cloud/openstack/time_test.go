package openstack

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTime(t *testing.T) {
	second := time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)
	for sentence, test := range map[string]struct {
		raw  string
		want time.Time
	}{
		"of Octavia":       {`"2026-01-02T03:04:05"`, second},
		"of Cinder":        {`"2026-01-02T03:04:05.250000"`, second.Add(250 * time.Millisecond)},
		"with a zone":      {`"2026-01-02T03:04:05Z"`, second},
		"missing":          {`null`, time.Time{}},
		"empty":            {`""`, time.Time{}},
		"in another form":  {`"yesterday"`, time.Time{}},
		"not even a text":  {`7`, time.Time{}},
		"in another place": {`{"at": 7}`, time.Time{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			var read Time
			require.NoError(t, json.Unmarshal([]byte(test.raw), &read))
			assert.True(t, test.want.Equal(read.Time), read.Time)
		})
	}
}
