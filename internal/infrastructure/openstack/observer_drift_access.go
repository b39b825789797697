package openstack

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

func (s *observedShoot) compareGroup(d *differences) {
	wanted := s.plan.group
	id := s.knownID(kindSecurityGroup, wanted.givenID)
	d.of("security group %s", id)
	observed := byID(s.cloud.groups, id, func(g cloudopenstack.SecurityGroup) string { return g.ID })
	if id == "" {
		return
	}
	if observed == nil {
		d.gone(s.whoReplaces(kindSecurityGroup, wanted.givenID, "networks.securityGroupId"))
		return
	}
	changes := diffRules(s.wantedRules(id), observed.Rules)
	if !s.owns(kindSecurityGroup, wanted.givenID) {
		for _, rule := range changes.create {
			d.foundf("lacks a rule that nodes need: %s; %s", describeRule(rule), byUser+"add it")
		}
		return
	}
	d.text("name", observed.Name, wanted.name, setBack)
	s.description(d, observed.Description, upstreamGroupDescription)
	for _, rule := range changes.create {
		d.foundf("lacks the rule %s; %s", describeRule(rule), recreatedNext)
	}
	for _, rule := range changes.remove {
		d.foundf("has the rule %s (%s), which is not wanted any more; %s", describeRule(rule), rule.ID, removedNext)
	}
	for _, rule := range changes.formerPodRanges {
		d.foundf("has the rule %s (%s) for a pod range that is not routed natively any more; %s", describeRule(rule), rule.ID,
			byUser+"remove it when no node is left that routes")
	}
	for _, rule := range changes.unmanaged {
		d.foundf("has the rule %s (%s), which is not Gardener's; %s", describeRule(rule), rule.ID, byUser+"remove it")
	}
}

func (s *observedShoot) compareKeyPair(d *differences) {
	name := s.effectiveKeyPairName()
	d.of("key pair %q", name)
	var observed *cloudopenstack.KeyPair
	// The databases of most clouds compare names without case.
	if i := slices.IndexFunc(s.cloud.keyPairs, func(k cloudopenstack.KeyPair) bool { return strings.EqualFold(k.Name, name) }); i >= 0 {
		observed = &s.cloud.keyPairs[i]
	}
	facts := s.keyPairFacts(name, observed)
	action := decideKeyPair(facts)
	if observed == nil {
		if action == keyPairCreate {
			d.gone(recreatedNext)
		}
		return
	}
	is, wanted := fingerprint(observed.PublicKey), fingerprint(facts.wanted)
	d.text("name", observed.Name, name, byUser+"recreate it")
	switch action {
	case keyPairReplace:
		d.text("public key", is, wanted, repairedNext)
	case keyPairRemove:
		d.foundf("exists, although SSH access is switched off; %s", removedNext)
	case keyPairRefuse:
		if facts.wanted != "" {
			d.text("public key", is, wanted, byUserFirst+"delete the key pair, and it is created again")
		}
	default:
	}
}

// fingerprint returns the fingerprint of a public key as ssh-keygen prints it, or the key itself if it cannot be read.
func fingerprint(publicKey string) string {
	fields := strings.Fields(publicKey)
	if len(fields) < 2 {
		return publicKey
	}
	key, err := base64.StdEncoding.DecodeString(fields[1])
	if err != nil {
		return publicKey
	}
	sum := sha256.Sum256(key)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

func (s *observedShoot) compareShareNetwork(d *differences) {
	id := s.state.ID(kindShareNetwork)
	if !s.plan.shareNetwork || id == "" {
		return
	}
	d.of("share network %s", id)
	observed := byID(s.cloud.shareNetworks, id, func(n cloudopenstack.ShareNetwork) string { return n.ID })
	if observed == nil {
		d.gone(recreatedNext)
		return
	}
	nodes, _ := s.subnet(kindSubnet)
	d.text("name", observed.Name, s.technicalID, setBack)
	s.description(d, observed.Description, "")
	d.text("network", observed.NetworkID, s.knownID(kindNetwork, s.plan.network.givenID), immutable)
	d.text("subnet", observed.SubnetID, s.knownID(kindSubnet, nodes.givenID), immutable)
}
