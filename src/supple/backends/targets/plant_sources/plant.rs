// @NOTICE@
// robot: @ROBOT@
//
// The plant in C behind a safe interface.
// build: cc -std=c99 -O2 -ffp-contract=off -c @NAME@.c && ar rcs lib@NAME@.a @NAME@.o
// self-test: rustc --test @NAME@.rs -L . -l static=@NAME@ -l m -o check && ./check
// tau: @FORCES@
// points: @POINTS@

pub const TAU: usize = @TAU@;
pub const POINTS: usize = @COUNT@;
const BYTES: usize = @BYTES@;

#[repr(C, align(16))]
#[derive(Clone)]
struct State([u8; BYTES]);

#[allow(non_snake_case)]
extern "C" {
    fn @NAME@_init(plant: *mut State, dt: f64) -> i32;
    fn @NAME@_step(plant: *mut State, tau: *const f64, dt: f64) -> i32;
    fn @NAME@_time(plant: *const State) -> f64;
    fn @NAME@_actuators(plant: *const State, q: *mut f64, v: *mut f64);
    fn @NAME@_points(plant: *const State, position: *mut f64, velocity: *mut f64);
}

/// A robot that goes on by steps; clone it to keep a state.
#[derive(Clone)]
pub struct Plant(Box<State>);

impl Plant {
    /// At rest, held by its actuators; dt: the step to come, in s.
    pub fn new(dt: f64) -> Result<Plant, i32> {
        let mut made = Plant(Box::new(State([0; BYTES])));
        match unsafe { @NAME@_init(&mut *made.0, dt) } {
            0 => Ok(made),
            why => Err(why),
        }
    }
    /// One step under held forces.
    pub fn step(&mut self, tau: &[f64; TAU], dt: f64) -> Result<(), i32> {
        match unsafe { @NAME@_step(&mut *self.0, tau.as_ptr(), dt) } {
            0 => Ok(()),
            why => Err(why),
        }
    }
    pub fn time(&self) -> f64 {
        unsafe { @NAME@_time(&*self.0) }
    }
    /// Places and rates of the actuators.
    pub fn actuators(&self) -> ([f64; TAU], [f64; TAU]) {
        let (mut q, mut v) = ([0.0; TAU], [0.0; TAU]);
        unsafe { @NAME@_actuators(&*self.0, q.as_mut_ptr(), v.as_mut_ptr()) };
        (q, v)
    }
    /// Places and velocities of the points.
    pub fn points(&self) -> ([[f64; 3]; POINTS], [[f64; 3]; POINTS]) {
        let (mut x, mut v) = ([[0.0; 3]; POINTS], [[0.0; 3]; POINTS]);
        unsafe { @NAME@_points(&*self.0, x.as_mut_ptr() as *mut f64, v.as_mut_ptr() as *mut f64) };
        (x, v)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn stays_at_rest() {
        let mut robot = super::Plant::new(1e-3).unwrap();
        let (start, _) = robot.actuators();
        for _ in 0..100 {
            robot.step(&[@HOLD@], 1e-3).unwrap();
        }
        let (q, _) = robot.actuators();
        for (a, b) in q.iter().zip(start.iter()) {
            assert!((a - b).abs() < 1e-6);
        }
        assert!((robot.time() - 0.1).abs() < 1e-12);
    }
}
