package v1alpha1_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
)

func TestTagKeys(t *testing.T) {
	for label, want := range map[string]string{
		"worker.gardener.cloud/pool": "worker.gardener.cloud-pool",
		"a b:c_d.e-F9":               "a b:c_d.e-F9",
		"Straße*1":                   "Stra-e-1",
		"":                           "",
	} {
		assert.Equal(t, want, v1alpha1.TagKey(label))
	}
	assert.True(t, v1alpha1.IsIdentity(v1alpha1.TagKey("kubernetes.io/role-node")))
	assert.True(t, v1alpha1.IsIdentity("kubernetes.io-cluster-x"))
	assert.False(t, v1alpha1.IsIdentity("kubernetes.io-arch"))
}
