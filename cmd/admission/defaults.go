package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trellis-garden/trellis/internal/admission/aws"
	"github.com/trellis-garden/trellis/internal/admission/calico"
	"github.com/trellis-garden/trellis/internal/admission/openstack"
	"github.com/trellis-garden/trellis/internal/manager"
)

// defaults are the defaults of new shoots.
type defaults struct {
	openstack openstack.Options
	aws       aws.Options
	calico    calico.Options
}

// newDefaults returns upstream's defaults, so that a new shoot is the same with either extension.
func newDefaults() *defaults {
	return &defaults{
		openstack: openstack.Options{NodeLocalDNSWithoutTCP: true},
		aws:       aws.Options{NodeLocalDNSWithoutTCP: true},
		calico:    calico.Options{OverlayOff: []string{openstack.Type, aws.Type}, PodRoutes: []string{openstack.Type}},
	}
}

func (d *defaults) flags() manager.FlagSection {
	const types, list = "TYPE,...", "types of infrastructures, or nothing for none"
	return manager.FlagSection{Title: "Defaults for new shoots", Flags: []manager.Flag{
		{
			Name: "default-overlay-off", Value: types, Defaults: strings.Join(d.calico.OverlayOff, ","),
			Usage:   "Infrastructures on which new shoots with Calico get no overlay, unless they say otherwise.",
			Allowed: list,
			Set:     typesOf(&d.calico.OverlayOff),
		},
		{
			Name: "default-pod-routes", Value: types, Defaults: strings.Join(d.calico.PodRoutes, ","),
			Usage: "Infrastructures on which nodes of shoots with Calico tell each other the ways to their pods where the overlay is new to be off, " +
				"unless they say otherwise.",
			Allowed: list,
			Set:     typesOf(&d.calico.PodRoutes),
		},
		{
			Name: "default-node-local-dns-without-tcp", Defaults: strconv.FormatBool(d.openstack.NodeLocalDNSWithoutTCP),
			Usage: "The node-local DNS of shoots on OpenStack and AWS asks upstream by UDP, unless they say otherwise; older ones follow with their next change.",
			Set: func(text string) error {
				without, err := strconv.ParseBool(text)
				if err != nil {
					return errors.New("must be true or false")
				}
				d.openstack.NodeLocalDNSWithoutTCP, d.aws.NodeLocalDNSWithoutTCP = without, without
				return nil
			},
		},
	}}
}

// typesOf parses types separated by commas; an empty list is valid. Any type is accepted: shoots have types that Trellis does not
// implement.
func typesOf(target *[]string) func(string) error {
	return func(text string) error {
		var types []string
		if text != "" {
			types = strings.Split(text, ",")
		}
		for i, name := range types {
			types[i] = strings.TrimSpace(name)
			if types[i] == "" {
				return errors.New("has an empty element")
			}
			if slices.Contains(types[:i], types[i]) {
				return fmt.Errorf("has %q twice", types[i])
			}
		}
		*target = types
		return nil
	}
}
