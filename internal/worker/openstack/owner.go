package openstack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	openstackmachine "github.com/trellis-garden/trellis/apis/openstack/machine/v1alpha1"
	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	"github.com/trellis-garden/trellis/internal/worker"
)

// groupWant is a pool's wanted server group.
type groupWant struct{ pool, policy string }

// owner finds a shoot's server groups by their names.
//
// A name of the form of this package, and of newer versions of the upstream extension, is the first 18 characters of the shoot's UID,
// a hyphen and 8 hex digits: 60 random bits, which no other name begins with by chance. It identifies the shoot independent of the
// pool.
//
// A name of the older form is `<technical ID>-<pool>-<suffix>`, the suffix being 10 random letters and digits, or for a while 5 hex digits
// of a hash of the policy. All parts except the suffix may contain hyphens, so that `shoot--dev--foo-bar-x-0123456789` is of pool bar-x of
// shoot foo, or of pool x of shoot foo-bar. A name is unambiguous only if neither the shoot's name nor the pool's has a hyphen. An
// ambiguous name proves nothing, and a group is the shoot's only if it is recorded, or if one of its servers is a machine of the shoot.
type owner struct {
	technicalID string
	// uids are the shoot's UIDs in names: the first is that of new names.
	uids []string
}

// lengthOfUID is the length of the part of a UID in a name.
const lengthOfUID = 18

// ownerOf uses the UID of the Shoot object for new names, as the upstream extension does. It differs from the UID of the shoot
// after a restore of the garden cluster.
func ownerOf(shoot *worker.Shoot) owner {
	o := owner{technicalID: shoot.TechnicalID}
	for _, uid := range []string{string(shoot.Cluster.Shoot.UID), shoot.UID} {
		if len(uid) >= lengthOfUID && !slices.Contains(o.uids, uid[:lengthOfUID]) {
			o.uids = append(o.uids, uid[:lengthOfUID])
		}
	}
	return o
}

// names are the possible names of our form of a pool's group. The first is that of a new group.
func (o owner) names(want groupWant) []string {
	sum := sha256.Sum256(fmt.Appendf(nil, "pool=%s,policy=%s", want.pool, want.policy))
	var names []string
	for _, uid := range o.uids {
		names = append(names, uid+"-"+hex.EncodeToString(sum[:])[:8])
	}
	return names
}

// mayHavePolicy reports whether a pool's recorded group may have the wanted policy: only names of our form contain the policy.
func (o owner) mayHavePolicy(known openstackv1alpha1.ServerGroupDependency, want groupWant) bool {
	return !o.isNamed(known.Name) || slices.Contains(o.names(want), known.Name)
}

// isNamed reports whether a name of our form is the shoot's, for any pool and policy.
func (o owner) isNamed(name string) bool {
	for _, uid := range o.uids {
		hash, isOurs := strings.CutPrefix(name, uid+"-")
		if isOurs && len(hash) == 8 && strings.Trim(hash, "0123456789abcdef") == "" {
			return true
		}
	}
	return false
}

// poolFromName returns the pool in a name of the older form, if it can be the shoot's.
func (o owner) poolFromName(group cloudopenstack.ServerGroup) (string, bool) {
	rest, hasPrefix := strings.CutPrefix(group.Name, o.technicalID+"-")
	end := strings.LastIndexByte(rest, '-')
	if !hasPrefix || end <= 0 {
		return "", false
	}
	suffix := rest[end+1:]
	ofPolicy := sha256.Sum256([]byte("policy=" + group.Policy))
	isRandom := len(suffix) == 10 && strings.Trim(suffix, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == ""
	return rest[:end], isRandom || suffix == hex.EncodeToString(ofPolicy[:])[:5]
}

// isUnambiguous reports whether a name of the older form can only be the shoot's.
func (o owner) isUnambiguous(pool string) bool {
	at := strings.LastIndex(o.technicalID, "--")
	return at > 0 && !strings.Contains(o.technicalID[at+2:], "-") && !strings.Contains(pool, "-")
}

// isOwn reports whether a group is the shoot's by its name alone.
func (o owner) isOwn(group cloudopenstack.ServerGroup) bool {
	pool, isParsed := o.poolFromName(group)
	return o.isNamed(group.Name) || isParsed && o.isUnambiguous(pool)
}

// isMachine reports whether a server is a machine of the shoot.
func (o owner) isMachine(server cloudopenstack.Server) bool {
	_, ours := server.Metadata[openstackmachine.TagClusterPrefix+o.technicalID]
	return ours
}
