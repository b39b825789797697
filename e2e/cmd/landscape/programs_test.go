package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestContainers(t *testing.T) {
	c := containers{
		ours: map[string]string{"worker-controller": "ours"}, others: map[string]string{"kube-apiserver": "now", "etcd": "now"},
		previous: map[string]string{"kube-apiserver": "previous"}, previousTag: "v1.35.4",
	}
	for sentence, test := range map[string]struct{ image, container, want string }{
		"ours, by its image":                         {"registry.example.com/trellis/worker-controller:v1", "any", "ours"},
		"ours, by its digest":                        {"registry.example.com/trellis/worker-controller@sha256:01", "any", "ours"},
		"ours, unknown":                              {"registry.example.com/trellis/other:v1", "kube-apiserver", ""},
		"another, by its container":                  {"registry.example.com/kube-apiserver:v1.36.3", "kube-apiserver", "now"},
		"another, of the previous version":           {"registry.example.com/kube-apiserver:v1.35.4", "kube-apiserver", "previous"},
		"another, of the previous version, with sum": {"registry.example.com/kube-apiserver:v1.35.4@sha256:01", "kube-apiserver", "previous"},
		"another, of a registry with a port":         {"registry.example.com:5000/kube-apiserver:v1.35.4", "kube-apiserver", "previous"},
		"another that has no previous version":       {"registry.example.com/etcd:v1.35.4", "etcd", "now"},
		"another, unknown":                           {"registry.example.com/other:v1", "other", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, ok := c.program(test.image, test.container)
			assert.Equal(t, test.want, got)
			assert.Equal(t, test.want != "", ok)
		})
	}
}

func TestOptions_Upgrades(t *testing.T) {
	assert.True(t, options{}.upgrades(), "all steps")
	assert.False(t, options{steps: []string{noSteps}}.upgrades())
	assert.Contains(t, options{steps: []string{"create", "upgrade"}}.thirdParty(), "kube-apiserver-previous")
	assert.NotContains(t, options{steps: []string{"create"}}.thirdParty(), "kube-apiserver-previous")
}
