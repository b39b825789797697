package aws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/aws/fake"
	"github.com/trellis-garden/trellis/internal/infrastructure/infrastructuretest"
)

// ListAccount lists everything in an account but what AWS makes itself, with all that is true of it. IDs in the facts are replaced by names, so that the facts
// of two runs can be compared.
func ListAccount(ctx context.Context, account *fake.Cloud, s *cloudaws.Session) ([]infrastructuretest.Resource, error) {
	all := &listing{names: map[string]string{}}
	err := errors.Join(
		list(ctx, all, "VPC", s.ListVPCs, nil),
		list(ctx, all, "DHCP options", s.ListDHCPOptions, nil),
		list(ctx, all, "internet gateway", s.ListInternetGateways, nil),
		list(ctx, all, "egress-only internet gateway", s.ListEgressOnlyGateways, nil),
		list(ctx, all, "subnet", s.ListSubnets, nil),
		list(ctx, all, "route table", s.ListRouteTables, cloudaws.RouteTable.Main),
		list(ctx, all, "NAT gateway", s.ListNATGateways, func(g cloudaws.NATGateway) bool { return g.State == cloudaws.NATDeleted }),
		list(ctx, all, "elastic IP", s.ListAddresses, nil),
		list(ctx, all, "security group", s.ListSecurityGroups, func(g cloudaws.SecurityGroup) bool { return g.Name == "default" && len(g.Rules) == 0 }),
		list(ctx, all, "gateway endpoint", s.ListEndpoints, nil),
		list(ctx, all, "key pair", s.ListKeyPairs, nil),
	)
	for i := range all.resources {
		if resource := &all.resources[i]; resource.Kind == "VPC" {
			for _, attribute := range []cloudaws.VPCAttribute{cloudaws.DNSSupport, cloudaws.DNSHostnames} {
				on, attributeErr := s.GetVPCAttribute(ctx, resource.ID, attribute)
				err = errors.Join(err, attributeErr)
				resource.Facts = strings.Replace(resource.Facts, "{", fmt.Sprintf("{%q:%v,", attribute, on), 1)
				resource.Version = resource.Facts
			}
		}
	}
	for _, name := range account.Resources() {
		if kind, rest, found := strings.Cut(name, "/"); found {
			facts, factsErr := factsOfIdentity(ctx, s, kind, rest)
			err = errors.Join(err, factsErr)
			all.resources = append(all.resources, infrastructuretest.Resource{
				Kind: strings.ReplaceAll(kind, "-", " "), ID: name, Name: rest, Facts: facts, Version: facts,
			})
		}
	}
	var pairs []string
	for id, name := range all.names {
		pairs = append(pairs, id, name)
	}
	replacer := strings.NewReplacer(pairs...)
	for i := range all.resources {
		all.resources[i].Facts = sortedDocument(chosenByCloud().ReplaceAllString(replacer.Replace(all.resources[i].Facts), "{}"))
	}
	return all.resources, err
}

// factsOfIdentity tells what a role permits, or what an instance profile contains.
func factsOfIdentity(ctx context.Context, s *cloudaws.Session, kind, name string) (string, error) {
	switch kind {
	case "role":
		role, err := s.GetRole(ctx, name)
		if err != nil {
			return "", err
		}
		document, err := s.GetRolePolicy(ctx, name, name)
		if err != nil && !cloud.IsNotFound(err) {
			return "", err
		}
		return toText(map[string]any{"trust": sortedDocument(role.TrustPolicy), "policy": sortedDocument(document)}), nil
	case "instance-profile":
		profile, err := s.GetInstanceProfile(ctx, name)
		roles := []any{}
		for _, role := range profile.Roles {
			roles = append(roles, role.Name)
		}
		return toText(map[string]any{"roles": roles}), err
	default:
		return "", nil
	}
}

// chosenByCloud matches what the cloud chooses anew in each run: IDs that nothing has as a name, and public addresses.
func chosenByCloud() *regexp.Regexp {
	return regexp.MustCompile(`[a-z]+-[0-9a-f]{17}|52\.\d+\.\d+\.\d+`)
}

// sortedDocument sorts all lists in a JSON document: AWS lists rules and associations in no order.
func sortedDocument(document string) string {
	var facts any
	if document == "" || json.Unmarshal([]byte(document), &facts) != nil {
		return document
	}
	sortLists(facts)
	return toText(facts)
}

func sortLists(value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, one := range value {
			sortLists(one)
		}
	case []any:
		for _, one := range value {
			sortLists(one)
		}
		slices.SortFunc(value, func(a, b any) int { return strings.Compare(toText(a), toText(b)) })
	}
}

func toText(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

type listing struct {
	resources []infrastructuretest.Resource
	names     map[string]string // by ID
}

// list adds what a list returns, except for what AWS makes itself, and for what is deleted.
func list[R cloudaws.Resource](
	ctx context.Context, all *listing, kind string, read func(context.Context, cloudaws.Filter) ([]R, error), omits func(R) bool,
) error {
	found, err := read(ctx, cloudaws.Filter{})
	if err != nil {
		return fmt.Errorf("listing %s: %w", kind, err)
	}
	for _, one := range found {
		if omits != nil && omits(one) {
			continue
		}
		id, tags := one.Identity()
		facts, err := json.Marshal(one)
		if err != nil {
			return err
		}
		all.names[id] = tags["Name"]
		all.resources = append(all.resources, infrastructuretest.Resource{Kind: kind, ID: id, Name: tags["Name"], Facts: string(facts), Version: string(facts)})
	}
	return nil
}
