package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse_Cloud(t *testing.T) {
	for description, test := range map[string]struct {
		arguments []string
		want      string
		wantErr   string
	}{
		"the fake without a flag": {nil, cloudFake, ""},
		"the fake":                {[]string{"--cloud", "fake"}, cloudFake, ""},
		"a real OpenStack":        {[]string{"--cloud=openstack"}, cloudReal, ""},
		"another cloud":           {[]string{"--cloud", "aws"}, "", `unknown cloud "aws"`},
	} {
		t.Run(description, func(t *testing.T) {
			parsed, err := parse(test.arguments)
			if test.wantErr != "" {
				require.EqualError(t, err, test.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, parsed.cloud)
			assert.True(t, parsed.hasSteps())
		})
	}
	parsed, err := parse([]string{"--steps", noSteps})
	require.NoError(t, err)
	assert.False(t, parsed.hasSteps(), "no cloud is needed without steps")
}
