package main

import (
	_ "embed"
	"fmt"
	"time"

	"sigs.k8s.io/yaml"
)

//go:embed monolith.yaml
var monolithYAML []byte

// monolith are the frozen figures of upstream's extension, with their conditions.
type monolith struct {
	Subject         string   `json:"subject"`
	Conditions      []string `json:"conditions"`
	BinaryMegabytes int      `json:"binaryMegabytes"`
	Infrastructure  struct {
		Conditions string            `json:"conditions"`
		First      recordedOperation `json:"first"`
		NoOp       recordedOperation `json:"noOp"`
		Delete     recordedOperation `json:"delete"`
	} `json:"infrastructure"`
	AtOnce struct {
		Conditions  string  `json:"conditions"`
		Shoots      int     `json:"shoots"`
		Logins      int     `json:"logins"`
		RatioOfWall float64 `json:"ratioOfWall"`
		RatioOfCPU  float64 `json:"ratioOfCPU"`
	} `json:"atOnce"`
	Idle struct {
		Conditions string  `json:"conditions"`
		Shoots     int     `json:"shoots"`
		Seconds    float64 `json:"seconds"`
		CPUSeconds float64 `json:"cpuSeconds"`
	} `json:"idle"`
	Memory struct {
		Conditions string         `json:"conditions"`
		Shoots     int            `json:"shoots"`
		Empty      recordedMemory `json:"emptyMegabytes"`
		Idle       recordedMemory `json:"idleMegabytes"`
		Worked     recordedMemory `json:"workedMegabytes"`
	} `json:"memory"`
	Machines struct {
		Conditions          string           `json:"conditions"`
		Machines            int              `json:"machines"`
		AtOnce              int              `json:"atOnce"`
		LatencyMilliseconds int              `json:"latencyMilliseconds"`
		Create              recordedMachines `json:"create"`
		Delete              recordedMachines `json:"delete"`
	} `json:"machines"`
}

// recordedOperation is an operation on an Infrastructure. Ratio is that of our wall time to it.
type recordedOperation struct {
	Calls   int     `json:"calls"`
	Logins  int     `json:"logins"`
	Seconds float64 `json:"seconds"`
	Ratio   float64 `json:"ratio"`
}

func (r recordedOperation) cost() cost {
	return cost{calls: r.Calls, logins: r.Logins, wall: seconds(r.Seconds)}
}

// recordedMemory is in megabytes, zero where it was not measured.
type recordedMemory struct {
	Resident  int `json:"resident"`
	Anonymous int `json:"anonymous"`
}

type recordedMachines struct {
	CallsPerMachine float64 `json:"callsPerMachine"`
	Seconds         float64 `json:"seconds"`
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// readMonolith decodes the record. A field that is not known is an error.
func readMonolith() (*monolith, error) {
	record := &monolith{}
	if err := yaml.UnmarshalStrict(monolithYAML, record); err != nil {
		return nil, fmt.Errorf("decoding monolith.yaml: %w", err)
	}
	return record, nil
}
