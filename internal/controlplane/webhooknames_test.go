package controlplane

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWebhookNames(t *testing.T) {
	webhooks, err := Webhooks(map[string]Driver{"a": nil, "b": nil}, nil, WebhookOptions{})
	require.NoError(t, err)
	assert.Empty(t, webhooks, "no types, no webhooks")

	var names []string
	for _, providerType := range []string{"a", "b"} {
		for _, w := range append(shootWebhooks(providerType, &tuner{}), etcdWebhook(providerType, WebhookOptions{}.EtcdStorage)) {
			names = append(names, w.Name)
		}
	}
	assert.ElementsMatch(t, names, WebhookNames([]string{"a", "b"}))
}
