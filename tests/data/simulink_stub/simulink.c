/* Plays Simulink for one step: 0 if the S-function describes the ports it is given. */
#ifdef STUB_STATES
/* Plays Simulink for steps of a block with states: how far its first actuator moved, or less than -1 */
double stub_states(const double *in, double step, int steps);

double stub_states(const double *in, double step, int steps)
{
    static SimStruct S;
    static double out[4][64];
    int i;
    S.step = step;
    mdlInitializeSizes(&S);
    mdlInitializeSampleTimes(&S);
    if (S.inputs != 1 || S.outputs != 4 || S.discrete < 100 || S.discrete > 100000 || S.feedthrough[0] || S.sample_time != step)
        return -2.0;
    S.in[0] = in;
    for (i = 0; i < 4; i++)
        S.out[i] = out[i];
    mdlInitializeConditions(&S);
    mdlOutputs(&S, 0);
    const double first = out[0][0];
    for (i = 0; i < steps && !S.failure; i++)
        mdlUpdate(&S, 0);
    mdlOutputs(&S, 0);
    mdlTerminate(&S);
    return S.failure ? -3.0 : out[0][0] - first;
}
#else
int stub_simulate(int inputs, const int *in_width, const double **in, int outputs, const int *out_width, double **out);

int stub_simulate(int inputs, const int *in_width, const double **in, int outputs, const int *out_width, double **out)
{
    SimStruct S = {0};
    int i;
    S.continuous = S.discrete = -1;
    mdlInitializeSizes(&S);
    mdlInitializeSampleTimes(&S);
    if (S.inputs != inputs || S.outputs != outputs || S.continuous != 0 || S.discrete != 0 || S.sample_times != 1)
        return 1;
    for (i = 0; i < inputs; i++) {
        if (S.in_width[i] != in_width[i] || !S.contiguous[i] || !S.feedthrough[i])
            return 2;
        S.in[i] = in[i];
    }
    for (i = 0; i < outputs; i++) {
        if (S.out_width[i] != out_width[i])
            return 3;
        S.out[i] = out[i];
    }
    mdlOutputs(&S, 0);
    mdlTerminate(&S);
    return 0;
}
#endif
