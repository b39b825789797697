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
	response := ask(t, options, mutating, shoot, old)
	require.True(t, response.Allowed, response.Result)
	if want == "" {
		require.Empty(t, string(response.Patch))
		return
	}
	require.JSONEq(t, want, string(response.Patch))
}

func adds(path, value string) string {
	return `[{"op":"add","path":"` + path + `","value":` + value + `}]`
}

func TestNewShootsGoWithoutTheOverlay(t *testing.T) {
	overlayAlone, routesAlone := Options{OverlayOff: []string{"openstack"}}, Options{PodRoutes: []string{"openstack"}}
	const off, both = `{"enabled":false}`, `{"enabled":false,"createPodRoutes":true}`
	for sentence, test := range map[string]struct {
		shoot   *gardencorev1beta1.Shoot
		options Options
		want    string
	}{
		"a shoot that says nothing gets a configuration": {shootWith(""), byDefault(), adds(configPath, `{`+kind+`,"overlay":`+both+`}`)},
		"one with an empty configuration gets the field": {shootWith(`{}`), byDefault(), adds(overlayPath, both)},
		"one that says null of it gets its value": {
			shootWith(`{"overlay":null}`), byDefault(), `[{"op":"replace","path":"` + overlayPath + `","value":` + both + `}]`,
		},
		"all else stays as it is": {
			shootWith(`{` + kind + `,"vethMTU":"1400","ipam":{"type":"host-local","cidr":"usePodCIDR"},"multus":{"enabled":true}}`), byDefault(),
			adds(overlayPath, both),
		},
		"one option without the other":               {shootWith(`{}`), overlayAlone, adds(overlayPath, off)},
		"the other without the one":                  {shootWith(`{}`), routesAlone, ""},
		"pod routes where the user says off":         {shootWith(`{"overlay":{"enabled":false}}`), routesAlone, adds(overlayPath+"/createPodRoutes", `true`)},
		"an overlay block that says nothing is off":  {shootWith(`{"overlay":{}}`), byDefault(), adds(overlayPath+"/createPodRoutes", `true`)},
		"pod routes that are refused stay refused":   {shootWith(`{"overlay":{"enabled":false,"createPodRoutes":false}}`), byDefault(), ""},
		"pod routes that are wanted stay wanted":     {shootWith(`{"overlay":{"enabled":false,"createPodRoutes":true}}`), byDefault(), ""},
		"an overlay that is wanted stays":            {shootWith(`{"overlay":{"enabled":true}}`), byDefault(), ""},
		"a backend that makes no routes stays alone": {shootWith(`{"overlay":{"enabled":false},"backend":"none"}`), byDefault(), ""},
		"BIRD makes pod routes": {
			shootWith(`{"overlay":{"enabled":false},"backend":"bird"}`), byDefault(), adds(overlayPath+"/createPodRoutes", `true`),
		},
		"who says what is wrapped by the backend": {shootWith(`{"backend":"bird"}`), byDefault(), ""},
		"by the mode":                      {shootWith(`{"ipv4":{"mode":"CrossSubnet"}}`), byDefault(), ""},
		"by the pool":                      {shootWith(`{"ipv4":{"pool":"ipip"}}`), byDefault(), ""},
		"by the mode's former name":        {shootWith(`{"ipip":"Always"}`), byDefault(), ""},
		"by VXLAN":                         {shootWith(`{"vxlan":{"enabled":true}}`), byDefault(), ""},
		"no VXLAN says nothing":            {shootWith(`{"vxlan":{"enabled":false}}`), byDefault(), adds(overlayPath, both)},
		"nor does a way to find addresses": {shootWith(`{"ipv4":{"autoDetectionMethod":"first-found"}}`), byDefault(), adds(overlayPath, both)},
		"with IPv6 the switch tells the cloud to route":   {shootWith(`{}`, withFamilies(ipv6)), byDefault(), adds(overlayPath, both)},
		"so it does with both families":                   {shootWith(`{}`, withFamilies(ipv4, ipv6)), overlayAlone, adds(overlayPath, off)},
		"another infrastructure":                          {shootWith("", on("aws")), byDefault(), ""},
		"no options":                                      {shootWith(""), Options{}, ""},
		"another network":                                 {shootWith("", ofType(new("cilium"))), byDefault(), ""},
		"a network without a type":                        {shootWith("", ofType(nil)), byDefault(), ""},
		"no network":                                      {shootWith("", withoutNetworking), byDefault(), ""},
		"no workers":                                      {shootWith("", workerless), byDefault(), ""},
		"a field that there is not is left to be refused": {shootWith(`{"overlays":{}}`), byDefault(), ""},
		"so is a text in place of an overlay":             {shootWith(`{"overlay":"on"}`), byDefault(), ""},
		"so is a list":                                    {shootWith(`[]`), byDefault(), ""},
		"so is another kind":                              {shootWith(`{"kind":"Other"}`), byDefault(), ""},
		"so is a name that is there twice":                {shootWith(`{"vethMTU":"1","vethMTU":"2"}`), byDefault(), ""},
	} {
		t.Run(sentence, func(t *testing.T) { requirePatch(t, test.want, test.options, test.shoot, nil) })
	}
}

func TestChangedShootsKeepTheirOverlay(t *testing.T) {
	const (
		off       = `{"overlay":{"enabled":false}}`
		offRoutes = `{"overlay":{"enabled":false,"createPodRoutes":true}}`
		none      = `{"overlay":{"enabled":false,"createPodRoutes":false}}`
		wrapping  = `{"overlay":{"enabled":true}}`
	)
	const migrate, restore, reconcile = gardencorev1beta1.LastOperationTypeMigrate, gardencorev1beta1.LastOperationTypeRestore,
		gardencorev1beta1.LastOperationTypeReconcile
	const succeeded, processing = gardencorev1beta1.LastOperationStateSucceeded, gardencorev1beta1.LastOperationStateProcessing
	podRoutes := adds(overlayPath+"/createPodRoutes", `true`)
	for sentence, test := range map[string]struct {
		old, shoot *gardencorev1beta1.Shoot
		want       string
	}{
		"a manifest that has no overlay keeps the old one": {
			shootWith(none), shootWith(`{"vethMTU":"1400"}`), adds(overlayPath, `{"enabled":false,"createPodRoutes":false}`),
		},
		"one that is on as well": {shootWith(wrapping), shootWith(`{}`), adds(overlayPath, `{"enabled":true}`)},
		"so does one that has no configuration at all": {
			shootWith(offRoutes), shootWith(""), adds(configPath, `{`+kind+`,"overlay":{"enabled":false,"createPodRoutes":true}}`),
		},
		"as it was, if it said nothing of pod routes":           {shootWith(off), shootWith(`{}`), adds(overlayPath, `{"enabled":false}`)},
		"unless it says what is wrapped":                        {shootWith(none), shootWith(`{"ipv4":{"mode":"CrossSubnet"}}`), ""},
		"who had no overlay gets none":                          {shootWith(""), shootWith("", withPurpose), ""},
		"what was there and cannot be read is forgotten":        {shootWith(`{"overlay":"on"}`), shootWith(`{}`), ""},
		"what was there beside what nobody knows is kept":       {shootWith(`{"overlays":{},"overlay":{"enabled":true}}`), shootWith(`{}`), adds(overlayPath, `{"enabled":true}`)},
		"the overlay goes on":                                   {shootWith(off), shootWith(wrapping), ""},
		"the overlay goes off, and pod routes come":             {shootWith(wrapping), shootWith(off), podRoutes},
		"another change brings no pod routes":                   {shootWith(off), shootWith(off, withPurpose), ""},
		"no change brings none":                                 {shootWith(off), shootWith(off), ""},
		"a label is no change":                                  {shootWith(off), shootWith(off, func(s *gardencorev1beta1.Shoot) { s.Labels = map[string]string{"a": "b"} }), ""},
		"who leaves out what it said of pod routes keeps it":    {shootWith(none), shootWith(off), adds(overlayPath+"/createPodRoutes", `false`)},
		"another infrastructure":                                {shootWith(none, on("aws")), shootWith(`{}`, on("aws")), ""},
		"what is being deleted":                                 {shootWith(wrapping), shootWith(off, inDeletion), ""},
		"a shoot that is reconciled":                            {shootWith(wrapping), shootWith(off, withLastOperation(reconcile, processing)), podRoutes},
		"a shoot that is moved":                                 {shootWith(wrapping), shootWith(off, withLastOperation(migrate, succeeded)), ""},
		"a shoot that arrives":                                  {shootWith(wrapping), shootWith(off, withLastOperation(restore, processing)), ""},
		"a shoot that has arrived":                              {shootWith(wrapping), shootWith(off, withLastOperation(restore, succeeded), onSeeds("b", "b")), podRoutes},
		"a shoot that is to be moved":                           {shootWith(wrapping), shootWith(off, withLastOperation(reconcile, succeeded), onSeeds("b", "a")), ""},
		"a shoot that gets its first seed":                      {shootWith(wrapping), shootWith(off, func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("a") }), podRoutes},
		"a shoot that gets its first workers is as good as new": {shootWith("", workerless), shootWith(`{}`), adds(overlayPath, `{"enabled":false,"createPodRoutes":true}`)},
	} {
		t.Run(sentence, func(t *testing.T) { requirePatch(t, test.want, byDefault(), test.shoot, test.old) })
	}
}
