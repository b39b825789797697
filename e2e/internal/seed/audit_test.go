package seed

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestProgressIsNoneOfTheWritesThatAPassMayCost(t *testing.T) {
	order := Write{Resource: "networks", Body: json.RawMessage(`{"metadata":{"annotations":{"gardener.cloud/operation":null}}}`)}
	secret := Write{Resource: "secrets", Body: json.RawMessage(`{"data":{"one":"dHdv"}}`)}
	status := func(body string) Write { return Write{Resource: "networks/status", Body: json.RawMessage(body)} }
	first := status(`{"status":{"lastOperation":{"state":"Processing","progress":10}}}`)
	second := status(`{"status":{"lastOperation":{"progress":50,"lastUpdateTime":"2026-01-02T03:04:05Z"}}}`)
	ended := status(`{"status":{"lastOperation":{"state":"Succeeded","progress":100}}}`)
	quick := status(`{"status":{"lastOperation":{"lastUpdateTime":"2026-01-02T03:04:05Z"}}}`)
	tests := map[string]struct{ writes, want []Write }{
		"a quick pass":                      {[]Write{order, quick}, []Write{order, quick}},
		"a quick pass that writes twice":    {[]Write{order, quick, quick}, []Write{order, quick, quick}},
		"a slow pass":                       {[]Write{order, first, second, ended}, []Write{order, ended}},
		"a slow pass that changes a Secret": {[]Write{order, first, secret, ended}, []Write{order, secret, ended}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, WithoutProgress(test.writes))
		})
	}
}
