package dnn

// A builder adds layers one behind the other.
type builder struct {
	layers   []Layer
	channels int // that the next convolution reads
}

// conv adds a convolution of kernel x kernel that makes out channels of
// edge x edge points.
func (b *builder) conv(kernel, out, edge int) *Layer {
	l := b.side(kernel, b.channels, out, edge)
	b.channels = out
	return l
}

// side adds a convolution that the next layer does not read: a shortcut.
func (b *builder) side(kernel, in, out, edge int) *Layer {
	weights := kernel * kernel * in * out
	return b.add(weights, out, 2*float64(weights)*float64(edge*edge))
}

// full adds a fully connected layer.
func (b *builder) full(in, out int) *Layer {
	return b.add(in*out, out, 2*float64(in*out))
}

func (b *builder) add(weights, bias int, flops float64) *Layer {
	b.layers = append(b.layers, Layer{Tensors: []Tensor{{Count: weights}, {Count: bias}}, Flops: flops})
	return &b.layers[len(b.layers)-1]
}

// normalized adds a batch normalization to a layer. Its work is too little to
// count, in Table 2 as well.
func (l *Layer) normalized() {
	n := l.Tensors[1].Count
	l.Tensors = append(l.Tensors,
		Tensor{Count: n}, Tensor{Count: n}, // gamma and beta
		Tensor{Count: n, Fixed: true}, Tensor{Count: n, Fixed: true}) // mean and variance
}

// alexNet is the network of one column, without groups.
func alexNet() *NeuralNetwork {
	b := &builder{channels: 3}
	b.conv(11, 96, 55)
	b.conv(5, 256, 27)
	b.conv(3, 384, 13)
	b.conv(3, 384, 13)
	b.conv(3, 256, 13)
	b.full(256*6*6, 4096)
	b.full(4096, 4096)
	b.full(4096, 1000)
	return &NeuralNetwork{Name: "alexnet", Layers: b.layers}
}

func vgg11() *NeuralNetwork {
	b := &builder{channels: 3}
	for _, c := range []struct{ out, edge int }{{64, 224}, {128, 112}, {256, 56}, {256, 56}, {512, 28}, {512, 28}, {512, 14}, {512, 14}} {
		b.conv(3, c.out, c.edge)
	}
	b.full(512*7*7, 4096)
	b.full(4096, 4096)
	b.full(4096, 1000)
	return &NeuralNetwork{Name: "vgg11", Layers: b.layers}
}

// resNet50 halves the picture in the 3x3 convolutions ("version 1.5"): so it has
// the operations of Table 2.
func resNet50() *NeuralNetwork {
	b := &builder{channels: 3}
	b.conv(7, 64, 112).normalized()
	edge := 56
	for stage, blocks := range []int{3, 4, 6, 3} {
		width := 64 << stage
		for block := range blocks {
			before := edge
			if stage > 0 && block == 0 {
				edge /= 2
			}
			if block == 0 {
				b.side(1, b.channels, 4*width, edge).normalized()
			}
			b.conv(1, width, before).normalized()
			b.conv(3, width, edge).normalized()
			b.conv(1, 4*width, edge).normalized()
		}
	}
	b.full(2048, 1000)
	return &NeuralNetwork{Name: "resnet50", Layers: b.layers}
}

// resNet110 is the variant whose parameters and operations both are exactly those of
// Table 2, which does not say which it is: each stage begins with a
// normalized shortcut, and a normalized product of 64 x 64 comes before the last.
func resNet110() *NeuralNetwork {
	b := &builder{channels: 3}
	b.conv(3, 16, 32).normalized()
	for stage := range 3 {
		width, edge := 16<<stage, 32>>stage
		for block := range 18 {
			if block == 0 {
				b.side(1, b.channels, width, edge).normalized()
			}
			b.conv(3, width, edge).normalized()
			b.conv(3, width, edge).normalized()
		}
	}
	b.full(64, 64).normalized()
	b.full(64, 10)
	return &NeuralNetwork{Name: "resnet110", Layers: b.layers}
}
