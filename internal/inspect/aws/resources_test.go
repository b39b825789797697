package aws

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/golden"
	"github.com/trellis-garden/trellis/internal/inspect"
)

const group = `"apiVersion":"aws.provider.extensions.gardener.cloud/v1alpha1"`

// state returns a state with that data.
func state(t *testing.T, data map[string]string) []byte {
	t.Helper()
	raw, err := json.Marshal(data)
	require.NoError(t, err)
	return []byte(`{` + group + `,"kind":"InfrastructureState","data":` + string(raw) + `}`)
}

// recordedZone returns what a state has of a zone with resources of its own.
func recordedZone(zone, suffix string) map[string]string {
	data := map[string]string{}
	for key, kind := range map[string]string{
		"SubnetWorkers": "subnet-nodes", "SubnetPublicUtility": "subnet-public", "SubnetPrivateUtility": "subnet-internal", "NATGateway": "nat",
		"NATGatewayElasticIP": "eipalloc", "ZoneRouteTable": "rtb", "SubnetPublicRouteTableAssoc": "rtbassoc",
	} {
		data["Zones/"+zone+"/"+key] = kind + "-" + suffix
	}
	data["Zones/"+zone+"/Suffix"] = suffix
	return data
}

// with merges maps, the last value of a key wins.
func with(all ...map[string]string) map[string]string {
	merged := map[string]string{}
	for _, one := range all {
		maps.Copy(merged, one)
	}
	return merged
}

// ofShoot returns what a state has besides zones.
func ofShoot() map[string]string {
	return map[string]string{
		"VPC": "vpc-1", "DHCPOptions": "dopt-1", "DefaultSecurityGroup": "sg-default", "InternetGateway": "igw-1", "MainRouteTable": "rtb-main",
		"NodesSecurityGroup": "sg-1", "IAMRoleName": "shoot--a-nodes", "IAMRoleARN": "arn:aws:iam::123456789012:role/shoot--a-nodes",
		"IAMInstanceProfileName": "shoot--a-nodes", "IAMRolePolicyName": "shoot--a-nodes", "KeyPair": "shoot--a-ssh-publickey",
	}
}

// own is the record of the owner of all resources of ofShoot and of a zone.
func own(t *testing.T, data map[string]string, given ...string) map[string]string {
	t.Helper()
	owners := map[string]string{}
	for key := range data {
		owners[key] = "own"
	}
	for _, key := range given {
		owners[key] = "given"
	}
	raw, err := json.Marshal(owners)
	require.NoError(t, err)
	return with(data, map[string]string{"trellis.owners": string(raw)})
}

func TestCloud_Resources(t *testing.T) {
	const (
		config = `{"networks":{"vpc":{"cidr":"10.250.0.0/16","gatewayEndpoints":["s3"]},"zones":[
			{"name":"eu-west-1a","workers":"10.250.0.0/19","public":"10.250.96.0/22","internal":"10.250.112.0/22"},
			{"name":"eu-west-1b","workers":"10.250.32.0/19","public":"10.250.100.0/22","internal":"10.250.116.0/22","elasticIPAllocationID":"eipalloc-user"}]}}`
		givenConfig = `{"networks":{"vpc":{"id":"vpc-1"},"nodesSecurityGroupID":"sg-1","zones":[
			{"name":"eu-west-1a","workersSubnetID":"subnet-nodes-z0","publicSubnetID":"subnet-public-z0"}]},"elasticFileSystem":{"enabled":true,"id":"fs-1"}}`
		status = `{` + group + `,"kind":"InfrastructureStatus","ec2":{"keyName":"shoot--a-ssh-publickey"},
			"iam":{"instanceProfiles":[{"purpose":"nodes","name":"shoot--a-nodes"}],"roles":[{"purpose":"nodes","arn":"arn:aws:iam::123456789012:role/shoot--a-nodes"}]},
			"vpc":{"id":"vpc-1","subnets":[{"purpose":"nodes","id":"subnet-nodes-z0","zone":"eu-west-1a"},{"purpose":"public","id":"subnet-public-z0","zone":"eu-west-1a"}],
			"securityGroups":[{"purpose":"nodes","id":"sg-1"}]}}`
	)
	z0, z1 := recordedZone("eu-west-1a", "z0"), recordedZone("eu-west-1b", "z1")
	delete(z1, "Zones/eu-west-1b/NATGatewayElasticIP")
	for sentence, recorded := range map[string]inspect.Recorded{
		"nothing": {},
		"a state of the upstream extension": {
			State: state(t, with(ofShoot(), z0, map[string]string{"efsSystemID": "fs-1", "efsMountTargets/fs-1_subnet-nodes-z0_sg-1": "fsmt-1"})),
		},
		"a state of the upstream extension, with a VPC, subnets and a file system of the user": {
			Config: []byte(givenConfig),
			State: state(t, with(ofShoot(), map[string]string{
				"Zones/eu-west-1a/SubnetWorkers": "subnet-nodes-z0", "Zones/eu-west-1a/SubnetWorkersCIDR": "10.9.0.0/24",
				"Zones/eu-west-1a/SubnetWorkersIPv6CIDR": "2001:db8::/64", "Zones/eu-west-1a/ZoneRouteTable": "rtb-user", "efsSystemID": "fs-1",
				"efsMountTargets/fs-1_subnet-nodes-z0": "fsmt-1",
			})),
		},
		"a state of Trellis, with an elastic IP of the user": {
			Config: []byte(config), State: state(t, own(t, with(ofShoot(), z0, z1, map[string]string{
				"VPCIPv6CidrBlock": "2001:db8::/56", "EgressOnlyInternetGateway": "eigw-1", "VPCEndpoints/s3": "vpce-1",
			}))),
		},
		"a state of Trellis, in a VPC of the user": {State: state(t, own(t, with(ofShoot(), z0), "VPC", "InternetGateway"))},
		"creations that have no result": {
			Config: []byte(config), State: state(t, map[string]string{
				"VPC": "vpc-1", "trellis.owners": `{"VPC":"own"}`,
				"trellis.intents":          `{"MainRouteTable":"shoot--a","Zones/eu-west-1a/NATGateway":"shoot--a-natgw-z0","VPCEndpoints/s3":"shoot--a-gw-s3"}`,
				"trellis.uncertainCreates": `{"InternetGateway":"2026-11-28T03:00:00Z"}`,
			}),
		},
		"a shoot that was adopted":           {State: state(t, with(own(t, ofShoot()), map[string]string{"trellis.adopted": "true"}))},
		"a status, and a state of Terraform": {State: []byte(`{"version":4}`), Status: []byte(status)},
	} {
		t.Run(sentence, func(t *testing.T) {
			resources, err := Cloud{}.Resources(recorded)
			require.NoError(t, err)
			report := inspect.Report{Namespace: "shoot--a", At: time.Date(2026, 11, 28, 4, 0, 0, 0, time.UTC), State: inspect.StateHealthy, Objects: []inspect.Object{
				{Kind: "Infrastructure", Name: "a", Type: Type, State: inspect.StateHealthy, Resources: resources},
			}}
			file := strings.ReplaceAll(strings.ReplaceAll(sentence, ",", ""), " ", "-") + ".txt"
			golden.Check(t, filepath.Join("testdata", file), inspect.Text(report))
		})
	}
}

func TestCloud_Resources_Unreadable(t *testing.T) {
	resources, err := Cloud{}.Resources(inspect.Recorded{
		State: []byte(`{` + group + `,"data":"none"}`), Status: []byte(`{"vpc":{"id":"vpc-1"}}`), Config: []byte(`[]`),
	})
	require.ErrorContains(t, err, "reading status.state: ")
	require.ErrorContains(t, err, "reading spec.providerConfig: ")
	assert.Equal(t, []inspect.Resource{{Kind: "VPC", ID: "vpc-1", Origin: inspect.OriginUnknown}}, resources, "what can be read is there")
}
