package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCloudFlags_FullCheckInterval(t *testing.T) {
	for text, want := range map[string]time.Duration{"0": 0, "0s": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute} {
		clouds := newCloudFlags()
		assert.Equal(t, 10*time.Minute, clouds.fullCheckInterval)
		require.NoError(t, setFlag(t, clouds, "full-check-interval", text), text)
		assert.Equal(t, want, clouds.fullCheckInterval, text)
	}
	for _, text := range []string{"", "10", "-1s", "often"} {
		clouds := newCloudFlags()
		require.EqualError(t, setFlag(t, clouds, "full-check-interval", text), "must be a duration, not negative", text)
		assert.Equal(t, defaultFullCheckInterval, clouds.fullCheckInterval, text)
	}
}

func TestCloudFlags_AWSEndpointURL(t *testing.T) {
	for _, text := range []string{"http://127.0.0.1:4566", "https://aws.example.org/path"} {
		clouds := newCloudFlags()
		assert.Empty(t, clouds.awsEndpointURL)
		require.NoError(t, setFlag(t, clouds, "aws-endpoint-url", text), text)
		assert.Equal(t, text, clouds.awsEndpointURL)
	}
	for _, text := range []string{"", "aws.example.org", "aws.example.org:443", "ftp://aws.example.org", "https://", "https://a b"} {
		clouds := newCloudFlags()
		require.EqualError(t, setFlag(t, clouds, "aws-endpoint-url", text), "must be a URL such as https://aws.example.org", text)
		assert.Empty(t, clouds.awsEndpointURL, text)
	}
}

// setFlag sets a flag as the command line does.
func setFlag(t *testing.T, clouds *cloudFlags, name, text string) error {
	t.Helper()
	for _, flag := range clouds.flags().Flags {
		if flag.Name == name {
			return flag.Set(text)
		}
	}
	require.Fail(t, "no such flag", name)
	return nil
}
