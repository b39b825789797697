package calico

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
)

const (
	ipv4 = gardencorev1beta1.IPFamilyIPv4
	ipv6 = gardencorev1beta1.IPFamilyIPv6
)

func requirePatch(t *testing.T, want string, options Options, shoot, old *gardencorev1beta1.Shoot) {
	t.Helper()
	response := callWebhook(t, options, defaultsWebhook, shoot, old)
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
	onlyOverlay, onlyRoutes := Options{OverlayOff: []string{"openstack"}}, Options{PodRoutes: []string{"openstack"}}
	const off, both = `{"enabled":false}`, `{"enabled":false,"createPodRoutes":true}`
	for sentence, test := range map[string]struct {
		shoot   *gardencorev1beta1.Shoot
		options Options
		want    string
	}{
		"a shoot that says nothing gets a configuration": {shootWith(""), defaultOptions(), addPatch(configPath, `{`+kind+`,"overlay":`+both+`}`)},
		"one with an empty configuration gets the field": {shootWith(`{}`), defaultOptions(), addPatch(overlayPath, both)},
		"one that says null of it gets its value": {
			shootWith(`{"overlay":null}`), defaultOptions(), `[{"op":"replace","path":"` + overlayPath + `","value":` + both + `}]`,
		},
		"all else stays as it is": {
			shootWith(`{` + kind + `,"vethMTU":"1400","ipam":{"type":"host-local","cidr":"usePodCIDR"},"multus":{"enabled":true}}`), defaultOptions(),
			addPatch(overlayPath, both),
		},
		"one option without the other":               {shootWith(`{}`), onlyOverlay, addPatch(overlayPath, off)},
		"the other without the one":                  {shootWith(`{}`), onlyRoutes, ""},
		"pod routes where the user says off":         {shootWith(`{"overlay":{"enabled":false}}`), onlyRoutes, addPatch(overlayPath+"/createPodRoutes", `true`)},
		"an overlay block that says nothing is off":  {shootWith(`{"overlay":{}}`), defaultOptions(), addPatch(overlayPath+"/createPodRoutes", `true`)},
		"pod routes that are refused stay refused":   {shootWith(`{"overlay":{"enabled":false,"createPodRoutes":false}}`), defaultOptions(), ""},
		"pod routes that are wanted stay wanted":     {shootWith(`{"overlay":{"enabled":false,"createPodRoutes":true}}`), defaultOptions(), ""},
		"an overlay that is wanted stays":            {shootWith(`{"overlay":{"enabled":true}}`), defaultOptions(), ""},
		"a backend that makes no routes stays alone": {shootWith(`{"overlay":{"enabled":false},"backend":"none"}`), defaultOptions(), ""},
		"BIRD makes pod routes": {
			shootWith(`{"overlay":{"enabled":false},"backend":"bird"}`), defaultOptions(), addPatch(overlayPath+"/createPodRoutes", `true`),
		},
		"who says what is wrapped by the backend": {shootWith(`{"backend":"bird"}`), defaultOptions(), ""},
		"by the mode":                      {shootWith(`{"ipv4":{"mode":"CrossSubnet"}}`), defaultOptions(), ""},
		"by the pool":                      {shootWith(`{"ipv4":{"pool":"ipip"}}`), defaultOptions(), ""},
		"by the mode's former name":        {shootWith(`{"ipip":"Always"}`), defaultOptions(), ""},
		"by VXLAN":                         {shootWith(`{"vxlan":{"enabled":true}}`), defaultOptions(), ""},
		"no VXLAN says nothing":            {shootWith(`{"vxlan":{"enabled":false}}`), defaultOptions(), addPatch(overlayPath, both)},
		"nor does a way to find addresses": {shootWith(`{"ipv4":{"autoDetectionMethod":"first-found"}}`), defaultOptions(), addPatch(overlayPath, both)},
		"with IPv6 the switch tells the cloud to route":   {shootWith(`{}`, withFamilies(ipv6)), defaultOptions(), addPatch(overlayPath, both)},
		"so it does with both families":                   {shootWith(`{}`, withFamilies(ipv4, ipv6)), onlyOverlay, addPatch(overlayPath, off)},
		"another infrastructure":                          {shootWith("", withInfrastructure("aws")), defaultOptions(), ""},
		"no options":                                      {shootWith(""), Options{}, ""},
		"another network":                                 {shootWith("", withNetworkType(new("cilium"))), defaultOptions(), ""},
		"a network without a type":                        {shootWith("", withNetworkType(nil)), defaultOptions(), ""},
		"no network":                                      {shootWith("", withoutNetworking), defaultOptions(), ""},
		"no workers":                                      {shootWith("", withoutWorkers), defaultOptions(), ""},
		"a field that there is not is left to be refused": {shootWith(`{"overlays":{}}`), defaultOptions(), ""},
		"so is a text in place of an overlay":             {shootWith(`{"overlay":"on"}`), defaultOptions(), ""},
		"so is a list":                                    {shootWith(`[]`), defaultOptions(), ""},
		"so is another kind":                              {shootWith(`{"kind":"Other"}`), defaultOptions(), ""},
		"so is a name that is there twice":                {shootWith(`{"vethMTU":"1","vethMTU":"2"}`), defaultOptions(), ""},
	} {
		t.Run(sentence, func(t *testing.T) { requirePatch(t, test.want, test.options, test.shoot, nil) })
	}
}

func TestSetDefaults_ChangedShoot(t *testing.T) {
	const (
		off       = `{"overlay":{"enabled":false}}`
		offRoutes = `{"overlay":{"enabled":false,"createPodRoutes":true}}`
		none      = `{"overlay":{"enabled":false,"createPodRoutes":false}}`
		wrapping  = `{"overlay":{"enabled":true}}`
	)
	const migrate, restore, reconcile = gardencorev1beta1.LastOperationTypeMigrate, gardencorev1beta1.LastOperationTypeRestore,
		gardencorev1beta1.LastOperationTypeReconcile
	const succeeded, processing = gardencorev1beta1.LastOperationStateSucceeded, gardencorev1beta1.LastOperationStateProcessing
	podRoutes := addPatch(overlayPath+"/createPodRoutes", `true`)
	for sentence, test := range map[string]struct {
		old, shoot *gardencorev1beta1.Shoot
		want       string
	}{
		"a manifest that has no overlay keeps the old one": {
			shootWith(none), shootWith(`{"vethMTU":"1400"}`), addPatch(overlayPath, `{"enabled":false,"createPodRoutes":false}`),
		},
		"one that is on as well": {shootWith(wrapping), shootWith(`{}`), addPatch(overlayPath, `{"enabled":true}`)},
		"so does one that has no configuration at all": {
			shootWith(offRoutes), shootWith(""), addPatch(configPath, `{`+kind+`,"overlay":{"enabled":false,"createPodRoutes":true}}`),
		},
		"as it was, if it said nothing of pod routes":           {shootWith(off), shootWith(`{}`), addPatch(overlayPath, `{"enabled":false}`)},
		"unless it says what is wrapped":                        {shootWith(none), shootWith(`{"ipv4":{"mode":"CrossSubnet"}}`), ""},
		"who had no overlay gets none":                          {shootWith(""), shootWith("", withPurpose), ""},
		"what was there and cannot be read is forgotten":        {shootWith(`{"overlay":"on"}`), shootWith(`{}`), ""},
		"what was there beside what nobody knows is kept":       {shootWith(`{"overlays":{},"overlay":{"enabled":true}}`), shootWith(`{}`), addPatch(overlayPath, `{"enabled":true}`)},
		"the overlay goes on":                                   {shootWith(off), shootWith(wrapping), ""},
		"the overlay goes off, and pod routes come":             {shootWith(wrapping), shootWith(off), podRoutes},
		"another change brings no pod routes":                   {shootWith(off), shootWith(off, withPurpose), ""},
		"no change brings none":                                 {shootWith(off), shootWith(off), ""},
		"a label is no change":                                  {shootWith(off), shootWith(off, func(s *gardencorev1beta1.Shoot) { s.Labels = map[string]string{"a": "b"} }), ""},
		"who leaves out what it said of pod routes keeps it":    {shootWith(none), shootWith(off), addPatch(overlayPath+"/createPodRoutes", `false`)},
		"another infrastructure":                                {shootWith(none, withInfrastructure("aws")), shootWith(`{}`, withInfrastructure("aws")), ""},
		"what is being deleted":                                 {shootWith(wrapping), shootWith(off, beingDeleted), ""},
		"a shoot that is reconciled":                            {shootWith(wrapping), shootWith(off, withLastOperation(reconcile, processing)), podRoutes},
		"a shoot that is moved":                                 {shootWith(wrapping), shootWith(off, withLastOperation(migrate, succeeded)), ""},
		"a shoot that arrives":                                  {shootWith(wrapping), shootWith(off, withLastOperation(restore, processing)), ""},
		"a shoot that has arrived":                              {shootWith(wrapping), shootWith(off, withLastOperation(restore, succeeded), withSeeds("b", "b")), podRoutes},
		"a shoot that is to be moved":                           {shootWith(wrapping), shootWith(off, withLastOperation(reconcile, succeeded), withSeeds("b", "a")), ""},
		"a shoot that gets its first seed":                      {shootWith(wrapping), shootWith(off, func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("a") }), podRoutes},
		"a shoot that gets its first workers is as good as new": {shootWith("", withoutWorkers), shootWith(`{}`), addPatch(overlayPath, `{"enabled":false,"createPodRoutes":true}`)},
	} {
		t.Run(sentence, func(t *testing.T) { requirePatch(t, test.want, defaultOptions(), test.shoot, test.old) })
	}
}
