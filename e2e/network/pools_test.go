package network

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// pool is what an IPPool in the shoot says of the way of packets.
type pool struct {
	cidr, ipip, vxlan string
	disabled          bool
}

// pools returns those in the shoot, by name.
func (env *environment) pools(t *testing.T) map[string]pool {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "crd.projectcalico.org", Version: "v1", Kind: "IPPoolList"})
	require.NoError(t, env.Cluster.Client.List(t.Context(), list))
	found := map[string]pool{}
	for _, object := range list.Items {
		text := func(field string) string {
			value, _, err := unstructured.NestedString(object.Object, "spec", field)
			require.NoError(t, err)
			return value
		}
		disabled, _, err := unstructured.NestedBool(object.Object, "spec", "disabled")
		require.NoError(t, err)
		found[object.GetName()] = pool{cidr: text("cidr"), ipip: text("ipipMode"), vxlan: text("vxlanMode"), disabled: disabled}
	}
	return found
}
