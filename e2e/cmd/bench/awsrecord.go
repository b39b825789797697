package main

import (
	_ "embed"
	"fmt"

	"sigs.k8s.io/yaml"
)

//go:embed aws.yaml
var countedYAML []byte

// counted are the calls of upstream's extension for AWS, as its code has them.
type counted struct {
	Subject    string         `json:"subject"`
	Conditions []string       `json:"conditions"`
	Zones      []countedZones `json:"zones"`
}

// countedZones are the operations on a shoot with a number of zones.
type countedZones struct {
	Zones  int          `json:"zones"`
	Create countedCalls `json:"create"`
	NoOp   countedCalls `json:"noOp"`
	Delete countedCalls `json:"delete"`
}

// countedCalls are the calls of one operation. Writes of the creation and of the deletion were not counted.
type countedCalls struct {
	Calls  int `json:"calls"`
	Writes int `json:"writes"`
}

// readCounted decodes the record. A field that is not known is an error.
func readCounted() (*counted, error) {
	record := &counted{}
	if err := yaml.UnmarshalStrict(countedYAML, record); err != nil {
		return nil, fmt.Errorf("decoding aws.yaml: %w", err)
	}
	return record, nil
}

// of returns the calls of an operation with a number of zones.
func (c *counted) of(operation string, zones int) countedCalls {
	for _, z := range c.Zones {
		if z.Zones == zones {
			return map[string]countedCalls{rowFirst: z.Create, rowNoOp: z.NoOp, rowDelete: z.Delete}[operation]
		}
	}
	return countedCalls{}
}
