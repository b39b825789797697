package kindseed

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRegistrationName(t *testing.T) {
	entries, err := Registrations()
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	for binary, entry := range entries {
		assert.Equal(t, entry.Name, RegistrationName(binary))
		assert.Equal(t, entry.LeaderElectionID, LeaderElectionID(binary))
	}
}
