package gardenet

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
)

func requirePatch(t *testing.T, want string, shoot, old *gardencorev1beta1.Shoot) {
	t.Helper()
	response := callWebhook(t, defaultsWebhook, shoot, old)
	require.True(t, response.Allowed, response.Result)
	if want == "" {
		require.Empty(t, string(response.Patch))
		return
	}
	require.JSONEq(t, want, string(response.Patch))
}

func addPatch(path, value string) string {
	return `[{"op":"add","path":"` + path + `","value":` + value + `}]`
}

func TestSetDefaults_NewShoot(t *testing.T) {
	const on, off, offRoutes = `{"enabled":true}`, `{"createPodRoutes":false,"enabled":false}`, `{"createPodRoutes":true,"enabled":false}`
	empty := func(infrastructure string, changes ...change) *gardencorev1beta1.Shoot {
		return shootWith(`{`+kind+`}`, append(changes, withInfrastructure(infrastructure))...)
	}
	for sentence, test := range map[string]struct {
		shoot *gardencorev1beta1.Shoot
		want  string
	}{
		"a shoot without a configuration":           {shootWith(""), addPatch(configPath, `{`+kind+`,"overlay":`+offRoutes+`}`)},
		"null for a configuration":                  {shootWith("null"), addPatch(configPath, `{`+kind+`,"overlay":`+offRoutes+`}`)},
		"a configuration without the field":         {empty("openstack"), addPatch(overlayPath, offRoutes)},
		"a cloud that routes to pods":               {empty("aws"), addPatch(overlayPath, off)},
		"no cloud":                                  {empty("local"), addPatch(overlayPath, on)},
		"both families":                             {empty("aws", withFamilies(ipv4, ipv6)), addPatch(overlayPath, off)},
		"the overlay on":                            {shootWith(`{` + kind + `,"overlay":{"enabled":true}}`), ""},
		"the overlay off, and nothing about routes": {shootWith(`{` + kind + `,"overlay":{"enabled":false}}`), addPatch(overlayPath+"/createPodRoutes", "true")},
		"all said":                                  {shootWith(`{` + kind + `,"overlay":{"enabled":false,"createPodRoutes":false}}`), ""},
		"only the tunnel": {
			shootWith(`{`+kind+`,"overlay":{"vxlan":{"port":4790}}}`, withInfrastructure("local")), addPatch(overlayPath+"/enabled", "true"),
		},
		"what cannot be read":    {shootWith(`{` + kind + `,"overlay":"on"}`), ""},
		"an unknown field":       {shootWith(`{` + kind + `,"gardenetCustomConfigField":1}`), ""},
		"a document of no kind":  {shootWith(`{}`), ""},
		"another network":        {shootWith("", withNetworkType(new("cilium"))), ""},
		"no workers":             {shootWith("", withoutWorkers), ""},
		"a shoot that is moving": {shootWith("", withSeeds("b", "a")), ""},
	} {
		t.Run(sentence, func(t *testing.T) { requirePatch(t, test.want, test.shoot, nil) })
	}
}

func TestSetDefaults_ChangedShoot(t *testing.T) {
	const on, off, noRoutes = `{` + kind + `,"overlay":{"enabled":true}}`, `{` + kind + `,"overlay":{"enabled":false}}`,
		`{` + kind + `,"overlay":{"enabled":false,"createPodRoutes":false}}`
	const migrate, succeeded = gardencorev1beta1.LastOperationTypeMigrate, gardencorev1beta1.LastOperationStateSucceeded
	for sentence, test := range map[string]struct {
		old, shoot *gardencorev1beta1.Shoot
		want       string
	}{
		"a manifest that has no overlay keeps the old one": {shootWith(on), shootWith(`{` + kind + `,"mtu":1400}`), addPatch(overlayPath, `{"enabled":true}`)},
		"also what it said about routes":                   {shootWith(noRoutes), shootWith(`{` + kind + `,"mtu":1400}`), addPatch(overlayPath, `{"enabled":false,"createPodRoutes":false}`)},
		"and where there is no configuration any more":     {shootWith(on), shootWith(""), addPatch(configPath, `{`+kind+`,"overlay":{"enabled":true}}`)},
		"the overlay goes off":                             {shootWith(on), shootWith(off), addPatch(overlayPath+"/createPodRoutes", "true")},
		"the overlay goes on":                              {shootWith(noRoutes), shootWith(on), ""},
		"another change keeps what is said about routes":   {shootWith(noRoutes), shootWith(off, withPurpose), addPatch(overlayPath+"/createPodRoutes", "false")},
		"a shoot that has no default yet":                  {shootWith(""), shootWith("", withPurpose), addPatch(configPath, `{`+kind+`,"overlay":{"enabled":false,"createPodRoutes":true}}`)},
		"an old one that cannot be read":                   {shootWith(`[]`), shootWith(`{` + kind + `}`), addPatch(overlayPath, `{"enabled":false,"createPodRoutes":true}`)},
		"an old one with an unknown field":                 {shootWith(`{` + kind + `,"new":1,"overlay":{"enabled":true}}`), shootWith(`{` + kind + `}`), addPatch(overlayPath, `{"enabled":true}`)},
		"no change of the spec":                            {shootWith(off), shootWith(off), ""},
		"a shoot that is moved":                            {shootWith(on), shootWith(off, withLastOperation(migrate, succeeded)), ""},
		"a shoot that is being deleted":                    {shootWith(on), shootWith(off, beingDeleted), ""},
		"a shoot that gets its first workers is as if new": {shootWith(on, withoutWorkers), shootWith(`{` + kind + `}`), addPatch(overlayPath, `{"enabled":false,"createPodRoutes":true}`)},
		"one that comes from another network is as if new": {shootWith(on, withNetworkType(new("cilium"))), shootWith(`{` + kind + `}`), addPatch(overlayPath, `{"enabled":false,"createPodRoutes":true}`)},
	} {
		t.Run(sentence, func(t *testing.T) { requirePatch(t, test.want, test.shoot, test.old) })
	}
}

// The API server asks for defaults first. They are never an error, and nothing is missing after them.
func TestValidate_AcceptsDefaults(t *testing.T) {
	for _, infrastructure := range []string{"openstack", "aws", "azure", "gcp", "local", "ironcore"} {
		for _, config := range []string{"", `{` + kind + `}`, `{` + kind + `,"overlay":{"enabled":true}}`, `{` + kind + `,"overlay":{"vxlan":{"id":7}}}`} {
			shoot := shootWith(config, withInfrastructure(infrastructure))
			require.NoError(t, setDefaults(shoot, nil))
			response := callWebhook(t, validatingWebhook, shoot, nil)
			require.True(t, response.Allowed, "%s on %s: %v", config, infrastructure, response.Result)
			requirePatch(t, "", shoot, nil)
		}
	}
}
