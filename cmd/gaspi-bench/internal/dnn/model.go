package dnn

import (
	"fmt"
	"slices"
	"strings"
)

// A Tensor is an array of parameters of a layer.
type Tensor struct {
	Count int // elements
	// Fixed parameters count as parameters but have no gradient: the running mean
	// and variance of a normalization.
	Fixed bool
}

// A Layer is what makes its gradients at once: a convolution or a product, with
// its normalization if it has one.
type Layer struct {
	Tensors []Tensor // in the order of the forward pass
	Flops   float64  // of the forward pass, for one sample; a multiply-add is two
}

// A NeuralNetwork is a network as far as its gradients and its work go.
type NeuralNetwork struct {
	Name   string
	Layers []Layer // in the order of the forward pass
}

// Parameters is the elements of all tensors: Table 2 of the paper.
func (m *NeuralNetwork) Parameters() int {
	n := 0
	for _, l := range m.Layers {
		for _, t := range l.Tensors {
			n += t.Count
		}
	}
	return n
}

// Flops returns the floating-point operations of the forward pass for one sample: Table 2 of
// the paper.
func (m *NeuralNetwork) Flops() float64 {
	sum := 0.0
	for _, l := range m.Layers {
		sum += l.Flops
	}
	return sum
}

// Named is the model of a name: alexnet, vgg11, resnet50 or resnet110. The error
// lists them.
func Named(name string) (*NeuralNetwork, error) {
	all := models()
	i := slices.IndexFunc(all, func(m *NeuralNetwork) bool { return m.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no model %q; expected one of %s", name, strings.Join(Names(), ", "))
	}
	return all[i], nil
}

// Names are those that Named knows. The caller owns the slice.
func Names() []string {
	var names []string
	for _, m := range models() {
		names = append(names, m.Name)
	}
	return names
}

func models() []*NeuralNetwork { return []*NeuralNetwork{alexNet(), vgg11(), resNet50(), resNet110()} }
