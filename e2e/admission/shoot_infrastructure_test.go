package admission

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// inInfrastructure is the path of the configuration in a Shoot.
const inInfrastructure = "spec.provider.infrastructureConfig"

// shootCase is a Shoot that differs from a valid one, with its expected errors.
type shootCase struct {
	change     change
	wantCauses []expectedCause
}

func (env *environment) validateNewShoots(t *testing.T, cases map[string]shootCase) {
	t.Helper()
	for sentence, tt := range cases {
		t.Run(sentence, func(t *testing.T) {
			shoot := newShoot("new")
			tt.change(shoot)
			assertResult(t, env.Client.Create(t.Context(), shoot, client.DryRunAll), tt.wantCauses)
		})
	}
}

func testInfrastructures(t *testing.T, env *environment) {
	t.Run("Documents", func(t *testing.T) { env.validateNewShoots(t, infrastructureDocuments()) })
	t.Run("Given", func(t *testing.T) { env.validateNewShoots(t, givenResources()) })
	t.Run("Ranges", func(t *testing.T) { env.validateNewShoots(t, nodeRanges()) })
	t.Run("Families", func(t *testing.T) { env.validateNewShoots(t, infrastructureFamilies()) })
	t.Run("Good", func(t *testing.T) { env.validateNewShoots(t, goodInfrastructures()) })
}

func infrastructureRaw(text string) change {
	return func(shoot *gardencorev1beta1.Shoot) {
		shoot.Spec.Provider.InfrastructureConfig = &runtime.RawExtension{Raw: []byte(text)}
	}
}

func infrastructureDocuments() map[string]shootCase {
	return map[string]shootCase{
		"none at all": {
			func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.Provider.InfrastructureConfig = nil },
			[]expectedCause{{inInfrastructure, "give one"}},
		},
		"a field that there is not": {infrastructure(`{networks: {workerz: 10.250.0.0/17}}`), []expectedCause{{inInfrastructure, "correct the name or remove the field"}}},
		"another group":             {infrastructure(`{apiVersion: aws.provider.extensions.gardener.cloud/v1alpha1}`), []expectedCause{{inInfrastructure, "set apiVersion to openstack"}}},
		"another kind":              {infrastructure(`{kind: ControlPlaneConfig}`), []expectedCause{{inInfrastructure, "kind to InfrastructureConfig"}}},
		"a text":                    {infrastructureRaw(`"networks: {}"`), []expectedCause{{inInfrastructure, "not a JSON object"}}},
		"a list":                    {infrastructureRaw(`[]`), []expectedCause{{inInfrastructure, "not a JSON object"}}},
		"a number for a range":      {infrastructure(`{networks: {workers: 10}}`), []expectedCause{{inInfrastructure, "must be a string"}}},
	}
}

func givenResources() map[string]shootCase {
	return map[string]shootCase{
		"no floating pool": {infrastructure(`{floatingPoolName: ""}`), []expectedCause{{inInfrastructure + ".floatingPoolName", "give the name"}}},
		"a floating pool with brackets": {infrastructure(`{floatingPoolName: "[public]"}`), []expectedCause{
			{inInfrastructure + ".floatingPoolName", "are not allowed"}, {inInfrastructure + ".floatingPoolName", "choose one of"},
		}},
		"a floating pool that nobody offers":   {infrastructure(`{floatingPoolName: elsewhere}`), []expectedCause{{inInfrastructure + ".floatingPoolName", `choose one of "dmz-*", "public", "sorted"`}}},
		"a floating pool of another region":    {infrastructure(`{floatingPoolName: far}`), []expectedCause{{inInfrastructure + ".floatingPoolName", "choose one of"}}},
		"a floating pool of another domain":    {infrastructure(`{floatingPoolName: partners}`), []expectedCause{{inInfrastructure + ".floatingPoolName", `domain "default"`}}},
		"the domain has pools of its own":      {as("partner"), []expectedCause{{inInfrastructure + ".floatingPoolName", `choose one of "partners"`}}},
		"a pattern that is none":               {infrastructure(`{floatingPoolSubnetName: "~("}`), []expectedCause{{inInfrastructure + ".floatingPoolSubnetName", "correct the regular expression"}}},
		"a subnet for a router that has one":   {infrastructure(`{floatingPoolSubnetName: s, networks: {router: {id: ` + aUUID + `}}}`), []expectedCause{{inInfrastructure + ".floatingPoolSubnetName", "remove one of the two"}}},
		"a router by its name":                 {infrastructure(`{networks: {router: {id: mine}}}`), []expectedCause{{inInfrastructure + ".networks.router.id", "not its name"}}},
		"a network by its name":                {infrastructure(`{networks: {id: mine}}`), []expectedCause{{inInfrastructure + ".networks.id", "not its name"}}},
		"a subnet without its network":         {infrastructure(`{networks: {workers: null, subnetId: ` + aUUID + `}}`), []expectedCause{{inInfrastructure + ".networks.id", "give the ID of the network"}}},
		"a subnet by its name":                 {infrastructure(`{networks: {workers: null, id: ` + aUUID + `, subnetId: mine}}`), []expectedCause{{inInfrastructure + ".networks.subnetId", "not its name"}}},
		"a security group by its name":         {infrastructure(`{networks: {securityGroupId: mine}}`), []expectedCause{{inInfrastructure + ".networks.securityGroupId", "not its name"}}},
		"rules for a given security group":     {infrastructure(`{networks: {securityGroupId: ` + aUUID + `, nodePortSourceRanges: [10.0.0.0/8]}}`), []expectedCause{{inInfrastructure + ".networks.nodePortSourceRanges", "remove the field"}}},
		"an MTU for a given network":           {infrastructure(`{networks: {id: ` + aUUID + `, mtu: 1400}}`), []expectedCause{{inInfrastructure + ".networks.mtu", "set the MTU on that network yourself"}}},
		"an MTU that is none":                  {infrastructure(`{networks: {mtu: 100}}`), []expectedCause{{inInfrastructure + ".networks.mtu", "between 1280 and 9216"}}},
		"zones for a given router":             {infrastructure(`{networks: {router: {id: ` + aUUID + `}, availabilityZoneHints: {router: [nova]}}}`), []expectedCause{{inInfrastructure + ".networks.availabilityZoneHints.router", "remove one of the two"}}},
		"one zone twice":                       {infrastructure(`{networks: {availabilityZoneHints: {network: [nova, nova]}}}`), []expectedCause{{inInfrastructure + ".networks.availabilityZoneHints.network[1]", "remove one of the two"}}},
		"two errors are told at once":          {infrastructure(`{floatingPoolName: "", networks: {mtu: 1}}`), []expectedCause{{inInfrastructure + ".floatingPoolName", "give the name"}, {inInfrastructure + ".networks.mtu", "choose a number"}}},
		"a subnet pool by its name":            {infrastructure(`{networks: {workers: null, subnetPool: {id: mine}}}`), []expectedCause{{inInfrastructure + ".networks.subnetPool.id", "not its name"}}},
		"a subnet pool with too long a prefix": {infrastructure(`{networks: {workers: null, subnetPool: {id: ` + aUUID + `, prefixLength: 31}}}`), []expectedCause{{inInfrastructure + ".networks.subnetPool.prefixLength", "between 1 and 29"}}},
	}
}

// as makes the shoot belong to another account.
func as(binding string) change {
	return func(shoot *gardencorev1beta1.Shoot) { shoot.Spec.CredentialsBindingName = &binding }
}

func nodeRanges() map[string]shootCase {
	workers, sources := inInfrastructure+".networks.workers", inInfrastructure+".networks.nodePortSourceRanges"
	return map[string]shootCase{
		"outside of the nodes":                {infrastructure(`{networks: {workers: 10.251.0.0/16}}`), []expectedCause{{workers, "must lie within spec.networking.nodes"}}},
		"larger than the nodes":               {infrastructure(`{networks: {workers: 10.0.0.0/8}}`), []expectedCause{{workers, "must lie within spec.networking.nodes"}}},
		"among the pods":                      {infrastructure(`{networks: {workers: 100.96.0.0/16}}`), []expectedCause{{workers, "must lie within"}, {workers, "overlaps spec.networking.pods"}}},
		"among the services":                  {infrastructure(`{networks: {workers: 100.64.0.0/16}}`), []expectedCause{{workers, "must lie within"}, {workers, "overlaps spec.networking.services"}}},
		"not in canonical form":               {infrastructure(`{networks: {workers: 10.250.1.1/17}}`), []expectedCause{{workers, "write 10.250.0.0/17"}}},
		"no range":                            {infrastructure(`{networks: {workers: ten}}`), []expectedCause{{workers, "CIDR notation"}}},
		"of the other family":                 {infrastructure(`{networks: {workers: "2001:db8::/64"}}`), []expectedCause{{workers, "give an IPv4 range"}}},
		"without room":                        {infrastructure(`{networks: {workers: 10.250.0.0/30}}`), []expectedCause{{workers, "give a /29 or larger"}}},
		"from nowhere":                        {infrastructure(`{networks: {workers: null}}`), []expectedCause{{workers, "give the range of the node subnet"}}},
		"from two places":                     {infrastructure(`{networks: {subnetPool: {id: ` + aUUID + `}}}`), []expectedCause{{workers, "remove the others"}}},
		"in a shoot that says nothing":        {networking(func(n *gardencorev1beta1.Networking) { n.Nodes = nil }), []expectedCause{{"spec.networking.nodes", "give an IPv4 range"}}},
		"sources of the other family":         {infrastructure(`{networks: {nodePortSourceRanges: ["2001:db8::/32"]}}`), []expectedCause{{sources + "[0]", "nodes have no IPv6 addresses"}}},
		"sources twice":                       {infrastructure(`{networks: {nodePortSourceRanges: [10.0.0.0/8, 10.0.0.0/8]}}`), []expectedCause{{sources + "[1]", "remove one of the two"}}},
		"sources that are not canonical":      {infrastructure(`{networks: {nodePortSourceRanges: [10.1.0.0/8]}}`), []expectedCause{{sources + "[0]", "write 10.0.0.0/8"}}},
		"in the former name, outside as ever": {infrastructure(`{networks: {workers: null, worker: 10.251.0.0/16}}`), []expectedCause{{workers, "must lie within"}}},
	}
}

func infrastructureFamilies() map[string]shootCase {
	ipv6 := inInfrastructure + ".networks.ipv6"
	return map[string]shootCase{
		"dual stack without ranges": {dualStack(), []expectedCause{{ipv6, "set subnetPoolID, or nodeCIDR, podCIDR and serviceCIDR"}}},
		"one range of three": {
			all(dualStack(), infrastructure(`{networks: {ipv6: {nodeCIDR: "2001:db8::/64"}}}`)),
			[]expectedCause{{ipv6 + ".podCIDR", "give all three"}, {ipv6 + ".serviceCIDR", "give all three"}},
		},
		"a range of nodes that is too large": {
			all(dualStack(), infrastructure(`{networks: {ipv6: {nodeCIDR: "2001:db8::/48", podCIDR: "2001:db9::/56", serviceCIDR: "2001:dba::/112"}}}`)),
			[]expectedCause{{ipv6 + ".nodeCIDR", "give a /64"}},
		},
		"ranges that overlap": {
			all(dualStack(), infrastructure(`{networks: {ipv6: {nodeCIDR: "2001:db8::/64", podCIDR: "2001:db8::/56", serviceCIDR: "2001:dba::/112"}}}`)),
			[]expectedCause{{ipv6 + ".podCIDR", "change one of the two"}},
		},
		"a range of the other family": {
			all(dualStack(), infrastructure(`{networks: {ipv6: {nodeCIDR: "10.0.0.0/24", podCIDR: "2001:db8::/56", serviceCIDR: "2001:dba::/112"}}}`)),
			[]expectedCause{{ipv6 + ".nodeCIDR", "give an IPv6 range"}},
		},
		"a pool by its name": {all(dualStack(), infrastructure(`{networks: {ipv6: {subnetPoolID: mine}}}`)), []expectedCause{{ipv6 + ".subnetPoolID", "not its name"}}},
		"a pool and one range": {
			all(dualStack(), infrastructure(`{networks: {ipv6: {subnetPoolID: `+aUUID+`, podCIDR: "2001:db8::/56"}}}`)),
			[]expectedCause{{ipv6 + ".nodeCIDR", "or subnetPoolID alone"}, {ipv6 + ".serviceCIDR", "or subnetPoolID alone"}},
		},
		"no IPv4": {
			all(networking(func(n *gardencorev1beta1.Networking) {
				n.IPFamilies = []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv6}
				n.Nodes, n.Pods, n.Services = new("2001:db8::/56"), new("2001:db9::/56"), new("2001:dba::/112")
			}), infrastructure(`{networks: {workers: null, subnetPool: {id: `+aUUID+`}, ipv6: {subnetPoolID: `+aUUID+`}}}`)),
			[]expectedCause{{"spec.networking.ipFamilies", "use [IPv4] or [IPv4, IPv6]"}},
		},
	}
}

func goodInfrastructures() map[string]shootCase {
	return map[string]shootCase{
		"as simple as can be":                  {all(), nil},
		"a pool that a pattern allows":         {infrastructure(`{floatingPoolName: dmz-7}`), nil},
		"a pool of the account's own domain":   {all(as("partner"), infrastructure(`{floatingPoolName: partners}`)), nil},
		"a pool and a subnet in it":            {infrastructure(`{floatingPoolSubnetName: "~^a.*"}`), nil},
		"a given router":                       {infrastructure(`{networks: {router: {id: ` + aUUID + `}}}`), nil},
		"a given network":                      {infrastructure(`{networks: {id: ` + aUUID + `}}`), nil},
		"a given subnet in it":                 {infrastructure(`{networks: {workers: null, id: ` + aUUID + `, subnetId: ` + anotherUUID + `}}`), nil},
		"a given security group":               {infrastructure(`{networks: {securityGroupId: ` + aUUID + `}}`), nil},
		"the range in the field's former name": {infrastructure(`{networks: {workers: null, worker: 10.250.0.0/16}}`), nil},
		"the range from a pool":                {infrastructure(`{networks: {workers: null, subnetPool: {id: ` + aUUID + `, prefixLength: 24}}}`), nil},
		"a share network":                      {infrastructure(`{networks: {shareNetwork: {enabled: true}}}`), nil},
		"an MTU":                               {infrastructure(`{networks: {mtu: 1400}}`), nil},
		"zones":                                {infrastructure(`{networks: {availabilityZoneHints: {network: [nova], router: [nova]}}}`), nil},
		"nobody may reach node ports":          {infrastructure(`{networks: {nodePortSourceRanges: []}}`), nil},
		"dual stack, ranges from a pool":       {all(dualStack(), infrastructure(`{networks: {ipv6: {subnetPoolID: `+aUUID+`}}}`)), nil},
		"dual stack, ranges of one's own":      {all(dualStack(), infrastructure(`{networks: {ipv6: {nodeCIDR: "2001:db8::/64", podCIDR: "2001:db9::/56", serviceCIDR: "2001:dba::/112"}}}`)), nil},
		"dual stack, ranges beside a pool": {
			all(dualStack(), infrastructure(`{networks: {ipv6: {subnetPoolID: `+aUUID+`, nodeCIDR: "2001:db8::/64", podCIDR: "2001:db9::/56", serviceCIDR: "2001:dba::/112"}}}`)), nil,
		},
		"credentials by the older kind of bindings": {
			func(shoot *gardencorev1beta1.Shoot) {
				shoot.Spec.CredentialsBindingName, shoot.Spec.SecretBindingName = nil, new("robot")
				shoot.Spec.Kubernetes.Version = lastWithSecretBindings
			}, nil,
		},
	}
}
