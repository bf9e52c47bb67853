/* sim_hide.h - sets the program's macros aside that could be meant for words of the header that includes this; sim_show.h brings them back.
 * Nothing guards it: it is read by each header that programs include themselves. */
#ifndef PGS_HIDDEN
#define PGS_HIDDEN(_) \
    _(A) _(B) _(C) _(D) _(E) _(F) _(G) _(H) _(I) _(J) _(K) _(L) _(M) _(N) _(O) _(P) _(PI) \
    _(Q) _(R) _(S) _(T) _(T1) _(T2) _(U) _(V) _(W) _(X) _(Y) _(Z) _(a) _(b) _(bits) \
    _(block) _(border) _(c) _(channels) _(col) _(colour) _(count) _(d) _(data) _(depth) \
    _(device) _(dim) _(dx) _(dy) _(e) _(e1) _(f) _(filter) _(first) _(flags) _(format) \
    _(from) _(g) _(grid) _(h) _(half) _(height) _(high) _(i) _(index) _(info) _(j) _(k) \
    _(key) _(l) _(lane) _(lanes) _(largest) _(last) _(layer) _(left) _(length) _(level) \
    _(low) _(m) _(mask) _(matrix) _(mode) _(n) _(name) _(next) _(number) _(o) _(offset) \
    _(op) _(out) _(p) _(part) _(pi) _(power) _(product) _(q) _(quotient) _(r) _(rank) \
    _(read) _(real) _(result) _(root) _(row) _(s) _(scale) _(seed) _(sequence) _(size) \
    _(slope) _(source) _(square) _(state) _(step) _(steps) _(sum) _(t) _(term) _(there) \
    _(to) _(top) _(total) _(turns) _(type) _(u) _(unit) _(v) _(value) _(w) _(width) \
    _(word) _(words) _(x) _(y) _(z)
#define PGS_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define PGS_HIDE(name) PGS_PRAGMA(push_macro(#name))
#define PGS_SHOW(name) PGS_PRAGMA(pop_macro(#name))
#endif
PGS_HIDDEN(PGS_HIDE)
#undef A
#undef B
#undef C
#undef D
#undef E
#undef F
#undef G
#undef H
#undef I
#undef J
#undef K
#undef L
#undef M
#undef N
#undef O
#undef P
#undef PI
#undef Q
#undef R
#undef S
#undef T
#undef T1
#undef T2
#undef U
#undef V
#undef W
#undef X
#undef Y
#undef Z
#undef a
#undef b
#undef bits
#undef block
#undef border
#undef c
#undef channels
#undef col
#undef colour
#undef count
#undef d
#undef data
#undef depth
#undef device
#undef dim
#undef dx
#undef dy
#undef e
#undef e1
#undef f
#undef filter
#undef first
#undef flags
#undef format
#undef from
#undef g
#undef grid
#undef h
#undef half
#undef height
#undef high
#undef i
#undef index
#undef info
#undef j
#undef k
#undef key
#undef l
#undef lane
#undef lanes
#undef largest
#undef last
#undef layer
#undef left
#undef length
#undef level
#undef low
#undef m
#undef mask
#undef matrix
#undef mode
#undef n
#undef name
#undef next
#undef number
#undef o
#undef offset
#undef op
#undef out
#undef p
#undef part
#undef pi
#undef power
#undef product
#undef q
#undef quotient
#undef r
#undef rank
#undef read
#undef real
#undef result
#undef root
#undef row
#undef s
#undef scale
#undef seed
#undef sequence
#undef size
#undef slope
#undef source
#undef square
#undef state
#undef step
#undef steps
#undef sum
#undef t
#undef term
#undef there
#undef to
#undef top
#undef total
#undef turns
#undef type
#undef u
#undef unit
#undef v
#undef value
#undef w
#undef width
#undef word
#undef words
#undef x
#undef y
#undef z
